"""A fingerprint of facts: equal for equal facts, in every process and on every day."""

from collections.abc import Iterable
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from hashlib import blake2b

DIGEST_BYTES = 16

Fact = str | bytes | int | bool | Decimal | Fraction | date | datetime | None | tuple["Fact", ...]


class NotAFact(TypeError):
    """A value without one exact spelling: a float, a naive time, an unordered set."""


def digest_of(facts: Iterable[Fact]) -> bytes:
    """16 bytes that tell these facts, in this order, from any others; refuses NotAFact.

    Facts without an order of their own are sorted by the caller. Every value is written with its
    type and length, so that ("ab", "c") and ("a", "bc") differ.
    """
    digest = blake2b(digest_size=DIGEST_BYTES)
    for fact in facts:
        digest.update(_spelled(fact))
    return digest.digest()


def _spelled(fact: Fact) -> bytes:
    kind, text = _kind_and_text(fact)
    return b"%s%d:%s" % (kind, len(text), text)


def _kind_and_text(fact: Fact) -> tuple[bytes, bytes]:
    if isinstance(fact, tuple):
        return b"t", b"".join(map(_spelled, fact))
    if isinstance(fact, bytes):
        return b"b", fact
    if isinstance(fact, str):
        return b"s", fact.encode()
    return _number_or_time(fact)


def _number_or_time(fact: Fact) -> tuple[bytes, bytes]:
    if fact is None:
        return b"n", b""
    # Equal numbers are equal facts, whatever type a driver gives them; true is 1, as in a row.
    if isinstance(fact, int | Decimal | Fraction):
        return b"q", b"%d/%d" % fact.as_integer_ratio()
    if isinstance(fact, datetime) and fact.tzinfo is not None:
        return b"m", fact.astimezone(UTC).isoformat().encode()
    if isinstance(fact, date) and not isinstance(fact, datetime):
        return b"d", fact.isoformat().encode()
    raise NotAFact(f"{fact!r} has no exact spelling")
