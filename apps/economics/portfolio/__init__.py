"""How much GPU capacity to commit to, and what to leave to spot and to on-demand.

Pure arithmetic in floats of the scenario's currency: estimates of what may be, never posted to the
ledger. Hours are counted from the start of the planned span; capacities are in GPUs.
"""
