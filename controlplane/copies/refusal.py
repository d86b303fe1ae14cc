"""What is said of a copy that cannot be made or brought back."""


class CopyRefused(Exception):
    """A copy cannot be made or brought back as things are; the message says why and what to do."""


def reason_of(problem: BaseException) -> str:
    """Return why something could not be done, in the words of whoever refused it."""
    return str(getattr(problem, "strerror", None) or problem).strip() or type(problem).__name__
