"""Planning of what comes next: forecasts, and what is decided on them."""
