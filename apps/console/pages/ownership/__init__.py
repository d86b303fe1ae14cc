"""Workloads and ownership: what each workload cost, whose jobs are, and who nobody owns yet."""
