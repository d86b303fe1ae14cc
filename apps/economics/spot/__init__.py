"""Work with a deadline on GPUs that may be taken away: what to run on next, and what it costs by replay."""
