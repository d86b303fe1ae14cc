"""The form that says how a file is read, and what a POST of it means."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.http import QueryDict

from apps.console.pages.imports.values import Reading, Select, Text
from apps.console.pages.ownership.values import Option

LONGEST_TEXT = 200
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
CHOICES: Mapping[str, tuple[str, str, tuple[tuple[str, str], ...]]] = {
    "form": ("Times are", "format", (("iso", "ISO 8601"), ("epoch", "a count since 1970"))),
    "unit": ("A count of", "unit", (("s", "seconds"), ("ms", "milliseconds"), ("min", "minutes"))),
    "duration_unit": (
        "Durations in",
        "duration_unit",
        (("s", "seconds"), ("min", "minutes"), ("h", "hours"), ("ms", "milliseconds")),
    ),
}
SHARES = (("fraction", "fractions (0.46)"), ("percent", "per cent (46)"), ("milli", "milli (460)"))


def reading_form(kind: str, asked: Mapping[str, Any], columns: tuple[str, ...]) -> Reading:
    """The form as it was last filled, or as it was proposed."""
    if kind == "sacct":
        return Reading(
            (),
            (
                Text("cluster", "Cluster", _text(asked, "cluster"), "over the file’s own column"),
                Text("zone", "Time zone", _text(asked, "zone"), "when sacct ran without TZ=UTC"),
            ),
        )
    chosen, times = _table(asked, "columns"), _table(asked, "times")
    selects = [
        Select(f"column.{key}", label, _columns(columns, _text(chosen, key)), hint)
        for key, (label, hint) in COLUMNS.items()
    ]
    labels = _table(asked, "labels")
    selects += [
        Select(f"label.{key}", f"Label {key}", _columns(columns, _text(labels, key)))
        for key in settings.TAG_KEYS
    ]
    selects += [
        Select(f"times.{key}", label, _options(pairs, _text(times, theirs)))
        for key, (label, theirs, pairs) in CHOICES.items()
    ]
    shares = _options(SHARES, _text(_table(asked, "units"), "gpu_share"))
    selects.append(Select("units.gpu_share", "Shares are", shares))
    zone, pool = _text(times, "zone") or "UTC", _text(_table(asked, "pool"), "name")
    return Reading(
        tuple(selects),
        (
            Text("cluster", "Cluster", _text(asked, "cluster"), "whose jobs these are"),
            Text("zone", "Time zone", zone, "of times that name none"),
            Text("pool", "Pool", pool, "without a node column: all ran on this one"),
        ),
    )


def asked_by(kind: str, given: QueryDict, before: Mapping[str, Any]) -> dict[str, object]:
    """How the file is to be read, as the reader's tables; what is empty is left out."""
    said = {key: given.get(key, "").strip()[:LONGEST_TEXT].replace("\0", "") for key in given}
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
        "columns": _said_of("column.", said),
        "labels": _said_of("label.", said),
        "times": {**times, "zone": zone},
        "units": _said_of("units.", said),
    }
    if said.get("pool"):
        asked["pool"] = {"name": said["pool"]}
    return asked


def _said_of(prefix: str, said: Mapping[str, str]) -> dict[str, str]:
    return {
        key.removeprefix(prefix): text
        for key, text in said.items()
        if key.startswith(prefix) and text
    }


def _columns(columns: tuple[str, ...], chosen: str) -> tuple[Option, ...]:
    return (
        Option("", "–", not chosen),
        *(Option(name, name, name == chosen) for name in columns if name),
    )


def _options(pairs: tuple[tuple[str, str], ...], chosen: str) -> tuple[Option, ...]:
    return tuple(Option(value, text, value == chosen) for value, text in pairs)


def _table(asked: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    given = asked.get(key)
    return given if isinstance(given, dict) else {}


def _text(asked: Mapping[str, Any], key: str) -> str:
    given = asked.get(key)
    return given if isinstance(given, str) else ""
