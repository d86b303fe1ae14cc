"""Files of spot availability: JSON as public traces have it, or a CSV of looks; plain or packed."""

import csv
import io
import json
from pathlib import Path

from apps.economics.refusal import Refusal
from apps.economics.spot.trace import SpotTrace, trace_of_document, trace_of_moments
from apps.economics.typed import unix_seconds
from apps.files.lines import FileUnreadable
from apps.files.unpacking import read_small_text

TIME, AVAILABLE = "time", "available"


def read_spot_trace(path: Path) -> SpotTrace:
    """Read the spot trace of a file, named after it. Refuses a Refusal naming the file, and the field or row."""
    try:
        text = read_small_text(path)
        name = path.name.removesuffix(".gz").removesuffix(".zip").rpartition(".")[0] or path.name
        if text.lstrip().startswith(("{", "[")):
            return trace_of_document(name, json.loads(text))
        return _trace_of_rows(name, text)
    except OSError as error:
        raise Refusal(str(path), error.strerror or "cannot be read") from error
    except (FileUnreadable, csv.Error, json.JSONDecodeError, RecursionError) as broken:
        raise Refusal(str(path), f"cannot be read: {broken}") from broken
    except Refusal as refusal:
        raise Refusal(str(path), str(refusal)) from refusal


def _trace_of_rows(name: str, text: str) -> SpotTrace:
    rows = csv.DictReader(io.StringIO(text, newline=""), skipinitialspace=True)
    header = rows.fieldnames or []
    for column in (TIME, AVAILABLE):
        if column not in header:
            raise Refusal(column, f"there is no such column; there are {', '.join(header)}")
    seconds, counts = [], []
    for row in rows:
        moment, count = (row[column] or "" for column in (TIME, AVAILABLE))
        if not moment and not count:
            continue
        try:
            seconds.append(unix_seconds(moment))
            counts.append(float(count) if count else float("nan"))
        except ValueError as error:
            raise Refusal(f"row {rows.line_num}", str(error)) from None
    return trace_of_moments(name, seconds, counts)
