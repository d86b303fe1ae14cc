"""Questions about bills and what became of them."""
