"""Values as JSON for programs that read a command's output."""

import json
from typing import Any


def json_text(value: Any) -> str:
    """Return one line of JSON: a set as its sorted members, exact numbers, days and moments as texts."""
    return json.dumps(value, default=_plain)


def _plain(value: Any) -> Any:
    return sorted(value) if isinstance(value, set | frozenset) else str(value)
