"""The Cost explorer."""
