"""Serving a model oneself or buying it from an API: what each costs a month, and where they cross.

Pure arithmetic in floats of the scenario's currency: estimates of what may be, never posted to the
ledger. Volumes are millions of tokens a month, prompt and output together.
"""
