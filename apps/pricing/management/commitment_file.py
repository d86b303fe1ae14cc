"""Commitments as somebody writes them down: a TOML file of one or of several."""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

from apps.accounts.queries import organisation, teams
from apps.fleet.queries import pools
from apps.pricing.actions import CommitmentNotUnderstood, NewCommitment
from apps.pricing.management.toml_fields import amount_of, moment_of, text_of

TEXTS = (
    *("name", "kind", "currency", "provider", "region", "instance_type", "gpu_model", "unit"),
    *("external_id", "source", "pool", "owner"),
)
AMOUNTS = ("spend", "upfront", "hourly")
MOMENTS = ("starts_at", "ends_at")
KNOWN = frozenset({*TEXTS, *AMOUNTS, *MOMENTS, "units", "prices"})


class CommitmentFileUnreadable(ValueError):
    """The file is no TOML, or has no commitment in it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One commitment of a file, from 1, or why it says none."""

    number: int
    commitment: NewCommitment | None
    reason: str = ""


def read_commitments(path: Path) -> list[Entry]:
    """Every commitment of the file; refuses CommitmentFileUnreadable. Figures are exact decimals."""
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as problem:
        raise CommitmentFileUnreadable(f"{path}: {problem}") from problem
    tables = told.pop("commitments") if "commitments" in told else [told]
    beside = sorted(told) if [told] != tables else []
    if beside:
        raise CommitmentFileUnreadable(f"{path}: {beside[0]} stands outside of any commitment")
    if not isinstance(tables, list) or not any(tables):
        raise CommitmentFileUnreadable(f"{path}: there is no commitment in it")
    return [_entry_of_table(number, table) for number, table in enumerate(tables, start=1)]


def _entry_of_table(number: int, table: object) -> Entry:
    try:
        return Entry(number, commitment_of(table if isinstance(table, dict) else {}))
    except CommitmentNotUnderstood as refusal:
        return Entry(number, None, str(refusal))


def commitment_of(told: Mapping[str, Any]) -> NewCommitment:
    """What was written, field by field; refuses CommitmentNotUnderstood."""
    unknown = sorted(set(told) - KNOWN)
    if unknown:
        raise CommitmentNotUnderstood(unknown[0], "there is no such field")
    missing = [name for name in ("name", "kind", *MOMENTS) if name not in told]
    if missing:
        raise CommitmentNotUnderstood(missing[0], "this is missing")
    read = {name: _READERS[name](name, value) for name, value in told.items()}
    pool, owner = read.pop("pool", ""), read.pop("owner", "")
    return NewCommitment(
        **{"currency": organisation().currency, **read},
        pool_id=_id_by_name("pool", pool, {each.name: each.id for each in pools().values()}),
        owner_id=_id_by_name("owner", owner, {each.name: each.id for each in teams()}),
    )


_text = partial(text_of, refusal=CommitmentNotUnderstood)
_amount = partial(amount_of, refusal=CommitmentNotUnderstood)


def _whole_count(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise CommitmentNotUnderstood(name, f"{value!r} is not a count")
    return value


def _prices_by_type(name: str, value: object) -> dict[str, Decimal]:
    if not isinstance(value, dict):
        raise CommitmentNotUnderstood(name, "this is a table of amounts by instance type")
    return {each: _amount(f"{name}.{each}", amount) for each, amount in value.items()}


_moment = partial(moment_of, refusal=CommitmentNotUnderstood)


_READERS: Mapping[str, Callable[[str, object], Any]] = {
    **dict.fromkeys(TEXTS, _text),
    **dict.fromkeys(AMOUNTS, _amount),
    **dict.fromkeys(MOMENTS, _moment),
    "units": _whole_count,
    "prices": _prices_by_type,
}


def _id_by_name(field: str, name: str, known: Mapping[str, int]) -> int | None:
    if not name:
        return None
    if name not in known:
        raise CommitmentNotUnderstood(field, f"there is no {field} named {name!r}")
    return known[name]
