"""What a job would cost and when it would be done, on each offer of GPU time; pure arithmetic."""
