"""Serving a model oneself against buying it from an API: kept scenarios, week after week."""
