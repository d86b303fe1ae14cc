"""What comes next: forecasts, and what is decided on them."""
