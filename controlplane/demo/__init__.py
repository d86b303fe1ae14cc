"""The demo: a simulated fleet on record, so that its agents and schedulers can be played."""
