"""How a file of jobs is read: the form that says it, what a POST of it means, what came of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import QueryDict

from apps.console.kit.entries import LONGEST_TEXT
from apps.console.kit.form import Field
from apps.console.kit.frame import Choice
from apps.economics.refusal import Refusal
from apps.workloads.queries.imports import RejectedFact

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
    """What came of the first lines: jobs as they would be taken, rows as they would be rejected."""

    refused: str = ""
    lines: int = 0
    jobs: int = 0
    rejected: int = 0
    skipped: int = 0
    first_jobs: tuple[tuple[str, ...], ...] = ()
    first_rejected: tuple[RejectedFact, ...] = ()


def trial_of(told: object) -> Trial:
    """What the first look found, as it lies in the table; nothing where nobody looked yet."""
    if not isinstance(told, dict):
        return Trial()
    return Trial(
        refused=str(told.get("refused", "")),
        lines=told.get("lines", 0),
        jobs=told.get("jobs", 0),
        rejected=told.get("rejected", 0),
        skipped=told.get("skipped", 0),
        first_jobs=rows_of(told.get("first_jobs")),
        first_rejected=tuple(
            RejectedFact(int(line), name, reason)
            for line, name, reason in rows_of(told.get("first_rejected"))
        ),
    )


def rows_of(told: object) -> tuple[tuple[str, ...], ...]:
    """Rows of the table as texts."""
    return tuple(texts_of(row) for row in told) if isinstance(told, list) else ()


def texts_of(told: object) -> tuple[str, ...]:
    """A list of the table as texts."""
    return tuple(str(each) for each in told) if isinstance(told, list) else ()


def reading_fields(
    kind: str, asked: Mapping[str, Any], columns: tuple[str, ...]
) -> tuple[Field, ...]:
    """The form as it was last filled, or as it was proposed."""
    if kind == "sacct":
        return (
            Field("cluster", "Cluster", _text_of(asked, "cluster"), hint=OVER_COLUMN),
            Field(
                "zone", "Time zone", _text_of(asked, "zone"), hint="when sacct ran without TZ=UTC"
            ),
        )
    chosen, labels = _table_of(asked, "columns"), _table_of(asked, "labels")
    times, units = _table_of(asked, "times"), _table_of(asked, "units")
    names = {"": "–"} | {name: name for name in columns if name}
    return (
        *(
            _select_field(f"column.{key}", label, names, _text_of(chosen, key), hint)
            for key, (label, hint) in COLUMNS.items()
        ),
        *(
            _select_field(f"label.{key}", f"Label {key}", names, _text_of(labels, key))
            for key in settings.TAG_KEYS
        ),
        *(
            _select_field(f"times.{key}", label, choices, _text_of(times, theirs))
            for key, (label, theirs, choices) in CHOICES.items()
        ),
        _select_field("units.gpu_share", "Shares are", SHARES, _text_of(units, "gpu_share")),
        Field("cluster", "Cluster", _text_of(asked, "cluster"), hint="whose jobs these are"),
        Field(
            "zone", "Time zone", _text_of(times, "zone") or "UTC", hint="of times that name none"
        ),
        Field("pool", "Pool", _text_of(_table_of(asked, "pool"), "name"), hint=ONE_POOL),
    )


def asked_by(kind: str, given: QueryDict, before: Mapping[str, Any]) -> dict[str, object]:
    """How the file is to be read, as the reader's tables; what is empty is left out.

    Refuses what is longer than anything that a file or an address could mean.
    """
    said = {key: given.get(key, "").strip().replace("\0", "") for key in given}
    for key, text in said.items():
        if len(text) > LONGEST_TEXT:
            raise Refusal(key, f"say it in at most {LONGEST_TEXT} characters")
    cluster, zone = said.get("cluster", ""), said.get("zone", "") or "UTC"
    if kind == "sacct":
        return {"cluster": cluster, "zone": zone}
    times = {
        theirs: said[f"times.{key}"]
        for key, (_, theirs, _pairs) in CHOICES.items()
        if said.get(f"times.{key}")
    }
    asked: dict[str, object] = {
        "cluster": cluster,
        "delimiter": before.get("delimiter", ","),
        "columns": _texts_under("column.", said),
        "labels": _texts_under("label.", said),
        "times": {**times, "zone": zone},
        "units": _texts_under("units.", said),
    }
    if said.get("pool"):
        asked["pool"] = {"name": said["pool"]}
    return asked


def _texts_under(prefix: str, said: Mapping[str, str]) -> dict[str, str]:
    return {
        key.removeprefix(prefix): text
        for key, text in said.items()
        if key.startswith(prefix) and text
    }


def _select_field(
    name: str, label: str, choices: Mapping[str, str], chosen: str, hint: str = ""
) -> Field:
    options = tuple(Choice(value, text, value == chosen) for value, text in choices.items())
    return Field(name, label, chosen, "select", hint=hint, choices=options)


def _table_of(asked: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    given = asked.get(key)
    return given if isinstance(given, dict) else {}


def _text_of(asked: Mapping[str, Any], key: str) -> str:
    given = asked.get(key)
    return given if isinstance(given, str) else ""
