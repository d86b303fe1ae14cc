"""What clouds ask for their machines, read from their own services."""
