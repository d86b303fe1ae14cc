"""How a statement about a job is kept: as JSON of what was said, under a digest of all of it."""

import hashlib
from dataclasses import dataclass
from fractions import Fraction

import msgspec

from apps.economics.jobs import JobStatement

DIGEST_BYTES = 16


@dataclass(frozen=True, slots=True)
class ArrivedStatement:
    """A statement with what it is kept as; the same statement has the same digest.

    `agent_node_id` is the node whose agent made it; None: anybody else.
    """

    statement: JobStatement
    content: str
    digest: bytes
    agent_node_id: int | None = None


def serialize_statement(
    statement: JobStatement, agent_node_id: int | None = None
) -> ArrivedStatement:
    """Return what is to be kept of a statement: only what it says."""
    everything: dict[str, object] = msgspec.to_builtins(statement, enc_hook=_encode_fraction)
    fields = {
        name: value
        for name, value in everything.items()
        if value is not None and value is not False
    }
    if statement.allocations:
        fields["allocations"] = [
            _without_false_gpus_unknown(one)
            for one in everything["allocations"]  # type: ignore[attr-defined]  # a list
        ]
    content = msgspec.json.encode(fields, order="sorted")
    digest = hashlib.blake2b(content, digest_size=DIGEST_BYTES).digest()
    return ArrivedStatement(statement, content.decode(), digest, agent_node_id)


def _without_false_gpus_unknown(allocation: dict[str, object]) -> dict[str, object]:
    """Return the known parts of an allocation, kept and digested as they were before anything could be unknown."""
    return {
        name: value
        for name, value in allocation.items()
        if name != "gpus_unknown" or value is not False
    }


def statement_of(content: str) -> JobStatement:
    """The statement as it was made."""
    return _DECODER.decode(content)


def _encode_fraction(value: object) -> object:
    if isinstance(value, Fraction):
        return str(value)
    raise NotImplementedError(type(value))


def _decode_fraction(kind: type, text: object) -> object:
    if kind is Fraction:
        return Fraction(str(text))
    raise NotImplementedError(kind)


_DECODER = msgspec.json.Decoder(JobStatement, dec_hook=_decode_fraction)
