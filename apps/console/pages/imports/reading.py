"""How a file of jobs is read: the entries that say it, what they mean, what came of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.conf import settings

from apps.console.kit.entries import PickField, TextField
from apps.uploads.imports import RejectedFact

OVER_COLUMN = "over the file’s own column"
ONE_POOL = "without a node column: all ran on this one"
COLUMNS: Mapping[str, tuple[str, str]] = {
    "raw_id": ("Job id", "needed"),
    "started_at": ("Started", "needed; a row without it never started"),
    "ended_at": ("Ended", "a row without it runs still"),
    "duration": ("Duration", "where there is no end"),
    "submitted_at": ("Submitted", "tells a reused job id from the first"),
    "node": ("Node", "n[1-3] or n1,n2 share evenly"),
    "gpus": ("GPUs", "how many"),
    "gpu_share": ("Share of each GPU", "without a count, of one GPU"),
    "cpus": ("CPUs", ""),
    "state": ("State", ""),
    "user": ("User", ""),
    "account": ("Account", ""),
    "partition": ("Partition", ""),
    "name": ("Name", ""),
    "cluster": ("Cluster", "or one cluster for all, below"),
    "exit_code": ("Exit code", ""),
}
CHOICES: Mapping[str, tuple[str, str, Mapping[str, str]]] = {
    "form": ("Times are", "format", {"iso": "ISO 8601", "epoch": "a count since 1970"}),
    "unit": ("A count of", "unit", {"s": "seconds", "ms": "milliseconds", "min": "minutes"}),
    "duration_unit": (
        "Durations in",
        "duration_unit",
        {"s": "seconds", "min": "minutes", "h": "hours", "ms": "milliseconds"},
    ),
}
SHARES = {"fraction": "fractions (0.46)", "percent": "per cent (46)", "milli": "milli (460)"}


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of a look at the first lines: jobs as they would be taken, rows as they would be rejected."""

    refused: str = ""
    lines: int = 0
    jobs: int = 0
    rejected: int = 0
    skipped: int = 0
    first_jobs: tuple[tuple[str, ...], ...] = ()
    first_rejected: tuple[RejectedFact, ...] = ()


def trial_of(stored: object) -> Trial:
    """Return what the first look found, as it lies in the table; nothing where nobody looked yet."""
    if not isinstance(stored, dict):
        return Trial()
    return Trial(
        refused=str(stored.get("refused", "")),
        lines=stored.get("lines", 0),
        jobs=stored.get("jobs", 0),
        rejected=stored.get("rejected", 0),
        skipped=stored.get("skipped", 0),
        first_jobs=rows_of(stored.get("first_jobs")),
        first_rejected=tuple(
            RejectedFact(int(line), name, reason)
            for line, name, reason in rows_of(stored.get("first_rejected"))
        ),
    )


def rows_of(stored: object) -> tuple[tuple[str, ...], ...]:
    """Rows of the table as texts."""
    return tuple(texts_of(row) for row in stored) if isinstance(stored, list) else ()


def texts_of(stored: object) -> tuple[str, ...]:
    """A list of the table as texts."""
    return tuple(str(item) for item in stored) if isinstance(stored, list) else ()


def reading_fields(
    kind: str, proposed: Mapping[str, Any], columns: tuple[str, ...]
) -> dict[str, forms.Field]:
    """The entries as they were last filled, or as it was proposed."""
    cluster = _text_of(proposed, "cluster")
    if kind == "sacct":
        zone = _text_of(proposed, "zone")
        return {
            "cluster": TextField("Cluster", OVER_COLUMN, initial=cluster),
            "zone": TextField("Time zone", "when sacct ran without TZ=UTC", initial=zone),
        }
    chosen, labels = _table_of(proposed, "columns"), _table_of(proposed, "labels")
    times, units = _table_of(proposed, "times"), _table_of(proposed, "units")
    names = {"": "–"} | {name: name for name in columns if name}
    return {
        **{
            f"column.{key}": PickField(label, names, hint, _text_of(chosen, key))
            for key, (label, hint) in COLUMNS.items()
        },
        **{
            f"label.{key}": PickField(f"Label {key}", names, initial=_text_of(labels, key))
            for key in settings.TAG_KEYS
        },
        **{
            f"times.{key}": _unit_field(label, choices, _text_of(times, theirs))
            for key, (label, theirs, choices) in CHOICES.items()
        },
        "units.gpu_share": _unit_field("Shares are", SHARES, _text_of(units, "gpu_share")),
        "cluster": TextField("Cluster", "whose jobs these are", initial=cluster),
        "zone": TextField(
            "Time zone", "of times that name none", initial=_text_of(times, "zone") or "UTC"
        ),
        "pool": TextField("Pool", ONE_POOL, initial=_text_of(_table_of(proposed, "pool"), "name")),
    }


def reading_options(
    kind: str, entered: Mapping[str, Any], before: Mapping[str, Any]
) -> dict[str, object]:
    """How the file is to be read, as the reader's tables; what is empty is left out."""
    cluster, zone = entered["cluster"], entered["zone"] or "UTC"
    if kind == "sacct":
        return {"cluster": cluster, "zone": zone}
    times = {
        theirs: entered[f"times.{key}"]
        for key, (_, theirs, _pairs) in CHOICES.items()
        if entered[f"times.{key}"]
    }
    reading: dict[str, object] = {
        "cluster": cluster,
        "delimiter": before.get("delimiter", ","),
        "columns": _texts_under("column.", entered),
        "labels": _texts_under("label.", entered),
        "times": {**times, "zone": zone},
        "units": _texts_under("units.", entered),
    }
    if entered["pool"]:
        reading["pool"] = {"name": entered["pool"]}
    return reading


def _texts_under(prefix: str, entered: Mapping[str, str]) -> dict[str, str]:
    return {
        key.removeprefix(prefix): text
        for key, text in entered.items()
        if key.startswith(prefix) and text
    }


def _unit_field(label: str, units: Mapping[str, str], chosen: str) -> PickField:
    """One of the units, the first where none was chosen."""
    return PickField(label, units, initial=chosen or next(iter(units)))


def _table_of(tables: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    table = tables.get(key)
    return table if isinstance(table, dict) else {}


def _text_of(table: Mapping[str, Any], key: str) -> str:
    value = table.get(key)
    return value if isinstance(value, str) else ""
