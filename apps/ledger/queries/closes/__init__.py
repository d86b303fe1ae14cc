"""Questions about closed months."""
