"""Who it was for: workloads, runs, jobs, allocations and ownership rules."""
