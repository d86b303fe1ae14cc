"""The simulated source: a scenario's fleet, jobs and load as batches and job events."""
