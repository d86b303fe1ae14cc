"""Changes of unit economics: lines divided over runs and services, and figures of runs."""
