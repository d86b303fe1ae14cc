"""Digest of the facts that a node-hour was split from, in forty bytes that tell what changed."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from hashlib import blake2b

import msgspec

from apps.economics.node_hour import NodeHourFacts
from apps.ledger.queries.node_hours.reading import Owner

# Goes up when the same facts are to give other lines: every hour done again is then split again.
RULES = 3
KINDS_OF_FACT = ("prices", "devices", "usage", "holders", "owners")
BYTES = 8


def digest_of(
    facts: NodeHourFacts,
    policy_version: int,
    owners: Iterable[tuple[int, Owner]],
    billed: Mapping[int, int],
) -> bytes:
    """Eight bytes for each kind of fact, in the order of KINDS_OF_FACT."""
    prices: tuple[object, ...] = (RULES, facts.through_ms, list(facts.charges.items()))
    if facts.beside:
        prices = (*prices, list(facts.beside.items()))
    kinds: tuple[object, ...] = (
        (*prices, list(billed.items())) if billed else prices,
        (
            *(facts.lived_ms, facts.capacity, policy_version, facts.devices, facts.outages),
            facts.cores,
        ),
        facts.usage,
        (facts.claims, facts.keys),
        list(owners),
    )
    encode = ENCODER.encode
    return b"".join([blake2b(encode(kind), digest_size=BYTES).digest() for kind in kinds])


def changed_kinds(before: bytes, now: bytes) -> list[str]:
    """The kinds of fact that differ between two digests."""
    return [
        kind
        for index, kind in enumerate(KINDS_OF_FACT)
        if before[index * BYTES : (index + 1) * BYTES] != now[index * BYTES : (index + 1) * BYTES]
    ]


def _plain_fraction(value: object) -> tuple[int, int]:
    if isinstance(value, Fraction):
        return value.as_integer_ratio()
    raise TypeError(f"{value!r} is no fact of a node-hour")


ENCODER = msgspec.msgpack.Encoder(enc_hook=_plain_fraction)
