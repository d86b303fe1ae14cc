"""Where invitations are answered: commands and `up` print it, and to ask Django would load every page."""

INVITATION = "invitation/"
FIRST_INVITATION = f"{INVITATION}first/"


def invitation_path(secret: str) -> str:
    """Return the path of the page on which whoever has the secret chooses a password."""
    return f"/{INVITATION}{secret}"


def first_person_path(secret: str) -> str:
    """Return the path of the page that lets the first person in."""
    return f"/{FIRST_INVITATION}{secret}"
