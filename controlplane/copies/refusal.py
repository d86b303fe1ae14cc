"""What is said of a copy that cannot be made or brought back."""


class CopyRefused(Exception):
    """A copy cannot be made or brought back as things are; the message says why and what to do."""
