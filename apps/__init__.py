"""The rooms of the house; imports between them only go down (see pyproject.toml)."""
