"""Code that takes libraries that web processes do without."""
