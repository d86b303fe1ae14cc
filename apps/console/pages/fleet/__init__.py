"""Nodes and GPUs: what there is, who holds it now, what it did, and changes to it."""
