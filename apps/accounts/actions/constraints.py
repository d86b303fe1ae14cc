"""The database's own refusals, told by the name of the constraint."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from django.db import IntegrityError, transaction


@contextmanager
def refusing(refusals: Mapping[str, Exception]) -> Iterator[None]:
    """Raise `refusals[constraint]` where the block breaks that constraint; undo only the block.

    Other broken constraints are bugs and propagate.
    """
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        refusal = refusals.get(_constraint_name(error) or "")
        if refusal is None:
            raise
        raise refusal from error


def _constraint_name(error: IntegrityError) -> str | None:
    name: str | None = getattr(getattr(error.__cause__, "diag", None), "constraint_name", None)
    return name
