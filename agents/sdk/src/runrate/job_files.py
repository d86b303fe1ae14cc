"""Jobs as people write them down: a file of TOML or JSON, with the fields of the REST surface."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, datetime, timedelta, timezone
from datetime import time as clock_time
from math import isfinite
from pathlib import Path
from typing import Any, Optional

Job = dict[str, Any]
LARGEST_FILE_BYTES = 1024 * 1024
ADMISSION = "admission"
HOURS_TO_DEADLINE = "deadline_hours"
MOST_HOURS = 24 * 366 * 10


class BadJobFile(ValueError):
    """What is wrong with the file; the message names it, and the line or the field."""


def read_job(path: str) -> Job:
    """The file's tables, moments as texts with their offsets; `-` is standard input. Refuses BadJobFile."""
    text = _text_of(path)
    if not text.strip():
        raise BadJobFile(f"{path}: the file is empty: it needs gpus and a [work] table at least")
    is_json = path.endswith(".json") or text.lstrip().startswith("{")
    found = _json(text, path) if is_json else _toml(text, path)
    return {name: _sent(value, f"{path}: {name}") for name, value in found.items()}


def quoted_job(job: Mapping[str, Any], now: datetime) -> Job:
    """What `POST /api/v1/quotes` is sent: all but `[admission]`, with the moment of the deadline. Refuses BadJobFile."""
    body = {
        name: value for name, value in job.items() if name not in (ADMISSION, HOURS_TO_DEADLINE)
    }
    hours = job.get(HOURS_TO_DEADLINE)
    if hours is None:
        return body
    if "deadline" in body:
        raise BadJobFile("deadline_hours: the file has a deadline too: say one of them")
    if isinstance(hours, bool) or not isinstance(hours, (int, float)):
        raise BadJobFile("deadline_hours: this is a number of hours from now")
    if not isfinite(hours) or not 0 < hours <= MOST_HOURS:
        raise BadJobFile(f"deadline_hours: from 0 to {MOST_HOURS} hours from now")
    return body | {"deadline": (now + timedelta(hours=hours)).isoformat()}


def admitted_job(job: Mapping[str, Any]) -> Job:
    """What `POST /api/v1/admissions` is sent: of a job with `work` what it says there, under what `[admission]` says.

    A file without `work` is sent as it is. Refuses BadJobFile.
    """
    own = job.get(ADMISSION, {})
    if not isinstance(own, Mapping):
        raise BadJobFile("admission: this is a table")
    if "work" not in job:
        return {name: value for name, value in job.items() if name != ADMISSION} | dict(own)
    work = job["work"] if isinstance(job["work"], Mapping) else {}
    models = job.get("gpu_models") or ([work["of_model"]] if work.get("of_model") else [])
    taken = {name: job[name] for name in ("team", "gpus") if name in job}
    if work.get("gpu_hours") is not None and "hours" not in own:
        taken["gpu_hours"] = work["gpu_hours"]
    if isinstance(models, list) and len(models) == 1 and "pool" not in own:
        taken["gpu_model"] = models[0]
    return taken | dict(own)


def _text_of(path: str) -> str:
    try:
        if path == "-":
            import sys

            raw = sys.stdin.buffer.read(LARGEST_FILE_BYTES + 1)
        else:
            with Path(path).open("rb") as file:
                raw = file.read(LARGEST_FILE_BYTES + 1)
        if len(raw) > LARGEST_FILE_BYTES:
            raise BadJobFile(f"{path}: larger than a megabyte, which no job is")
        return raw.decode("utf-8-sig")
    except OSError as trouble:
        raise BadJobFile(f"{path}: {trouble.strerror or trouble}") from trouble
    except UnicodeDecodeError as trouble:
        raise BadJobFile(f"{path}: this is not UTF-8 text") from trouble


def _json(text: str, path: str) -> Job:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as trouble:
        raise BadJobFile(f"{path}: {trouble}") from trouble
    if not isinstance(found, dict):
        raise BadJobFile(f"{path}: a job is a JSON object")
    return found


def _toml(text: str, path: str) -> Job:
    reader = _toml_reader()
    if reader is None:
        raise BadJobFile(
            f"{path}: TOML is read from Python 3.11 on, or with tomli (pip install tomli); JSON is read by every Python"
        )
    try:
        found: Job = reader.loads(text)
    except (ValueError, RecursionError) as trouble:
        raise BadJobFile(f"{path}: {trouble}") from trouble
    return found


def _toml_reader() -> Optional[Any]:
    for name in ("tomllib", "tomli"):
        try:
            return __import__(name)
        except ImportError:
            continue
    return None


def _sent(value: Any, where: str) -> Any:
    """As JSON has it; a moment without an offset nobody could place."""
    if isinstance(value, Mapping):
        return {name: _sent(each, f"{where}.{name}") for name, each in value.items()}
    if isinstance(value, list):
        return [_sent(each, where) for each in value]
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise BadJobFile(f"{where}: a moment needs an offset, as in 2026-03-05T12:00:00Z")
        return value.astimezone(timezone.utc).isoformat()
    if isinstance(value, (date, clock_time)):
        raise BadJobFile(f"{where}: this is a moment, as in 2026-03-05T12:00:00Z")
    if isinstance(value, float) and not isfinite(value):
        raise BadJobFile(f"{where}: this is no number")
    return value
