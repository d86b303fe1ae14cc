"""Files of jobs by browser: sent, looked at, their columns said, then imported in the background."""
