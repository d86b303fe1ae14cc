"""What the speed figures are measured with."""
