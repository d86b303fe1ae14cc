"""What somebody wrote in a TOML file, field by field; each refuses by the exception it is given."""

from datetime import UTC, date, datetime, time, tzinfo
from decimal import Decimal

from apps.economics.refusal import Refusal


def text_of(name: str, value: object, refusal: type[Refusal]) -> str:
    """A text."""
    if not isinstance(value, str):
        raise refusal(name, f"{value!r} is not a text")
    return value


def amount_of(name: str, value: object, refusal: type[Refusal]) -> Decimal:
    """An amount as it was written, exactly."""
    if isinstance(value, bool) or not isinstance(value, Decimal | int | str):
        raise refusal(name, f"{value!r} is not an amount")
    try:
        return Decimal(value)
    except ArithmeticError:
        raise refusal(name, f"{value!r} is not an amount") from None


def moment_of(
    name: str, value: object, refusal: type[Refusal], *, days_in: tzinfo = UTC
) -> datetime:
    """A moment, UTC where no offset is said; a day begins by the clock of `days_in`."""
    try:
        said = datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        said = None
    if isinstance(said, date) and not isinstance(said, datetime):
        return datetime.combine(said, time(), tzinfo=days_in).astimezone(UTC)
    if not isinstance(said, datetime):
        raise refusal(name, f"{value!r} is not a day or a moment")
    return said.replace(tzinfo=UTC) if said.tzinfo is None else said.astimezone(UTC)
