"""What reading a message of a broker raises that is none."""

UNREADABLE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""Half of one, a wrong type, brackets in ten thousand brackets."""
