"""Setup: what the control plane was told but cannot place, as questions with an answer each."""
