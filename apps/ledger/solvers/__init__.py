"""What takes libraries that web processes do without."""
