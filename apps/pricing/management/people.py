"""Who enters a price at the terminal."""

from django.core.management.base import CommandError

from apps.accounts.queries import person_of_address

BY = "the address of who enters it, who then does not decide about what waits"


def person_named(email: str | None) -> int | None:
    """Their id; None where nobody is said. Refuses CommandError."""
    if email is None:
        return None
    person_id = person_of_address(email)
    if person_id is None:
        raise CommandError(f"--by: nobody signs in as {email}")
    return person_id
