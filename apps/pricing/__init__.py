"""What it should cost: rates and shared costs."""
