"""The promises of the product, as tests."""
