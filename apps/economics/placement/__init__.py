"""The cost of a job and when it would be done, on each offer of GPU time; pure arithmetic."""
