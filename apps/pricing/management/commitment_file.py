"""Commitments as somebody writes them down: a TOML file of one or of several."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from apps.accounts.queries import organisation, teams
from apps.fleet.queries import pools
from apps.pricing.actions import CommitmentNotUnderstood, EnteredCommitment
from apps.pricing.management.toml_fields import (
    amount_of,
    amounts_of,
    count_of,
    moment_of,
    read_fields,
    read_toml,
    text_of,
    truth_of,
)

TEXTS = (
    *("name", "kind", "currency", "provider", "region", "instance_type", "gpu_model", "unit"),
    *("external_id", "source", "pool", "owner", "platform", "tenancy", "account"),
)
AMOUNTS = ("spend", "upfront", "hourly")
MOMENTS = ("starts_at", "ends_at")
NEEDED = ("name", "kind", *MOMENTS)
READERS: Mapping[str, Callable[..., Any]] = {
    **dict.fromkeys(TEXTS, text_of),
    **dict.fromkeys(AMOUNTS, amount_of),
    **dict.fromkeys(MOMENTS, moment_of),
    "is_shared": truth_of,
    "units": count_of,
    "prices": amounts_of,
}


class CommitmentFileUnreadable(ValueError):
    """The file is no TOML, or has no commitment in it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One commitment of a file, from 1, or why it says none."""

    number: int
    commitment: EnteredCommitment | None
    reason: str = ""


def read_commitments(path: Path) -> list[Entry]:
    """Every commitment of the file; refuses CommitmentFileUnreadable. Figures are exact decimals."""
    document = read_toml(path, CommitmentFileUnreadable)
    tables = document.pop("commitments") if "commitments" in document else [document]
    stray_keys = sorted(document) if [document] != tables else []
    if stray_keys:
        raise CommitmentFileUnreadable(f"{path}: {stray_keys[0]} stands outside of any commitment")
    if not isinstance(tables, list) or not any(tables):
        raise CommitmentFileUnreadable(f"{path}: there is no commitment in it")
    return [_entry_of_table(number, table) for number, table in enumerate(tables, start=1)]


def _entry_of_table(number: int, table: object) -> Entry:
    try:
        return Entry(number, commitment_of(table if isinstance(table, dict) else {}))
    except CommitmentNotUnderstood as refusal:
        return Entry(number, None, str(refusal))


def commitment_of(table: Mapping[str, Any]) -> EnteredCommitment:
    """Return the commitment that was written, field by field; refuses CommitmentNotUnderstood."""
    read = read_fields(table, READERS, NEEDED, CommitmentNotUnderstood)
    pool, owner = read.pop("pool", ""), read.pop("owner", "")
    return EnteredCommitment(
        **{"currency": organisation().currency, **read},
        pool_id=_id_by_name("pool", pool, {fact.name: fact.id for fact in pools().values()}),
        owner_id=_id_by_name("owner", owner, {team.name: team.id for team in teams()}),
    )


def _id_by_name(field: str, name: str, ids_by_name: Mapping[str, int]) -> int | None:
    if not name:
        return None
    if name not in ids_by_name:
        raise CommitmentNotUnderstood(field, f"there is no {field} named {name!r}")
    return ids_by_name[name]
