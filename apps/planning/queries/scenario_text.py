"""Scenarios as people write them: tables in TOML, or the same in JSON."""

import json
import tomllib
from typing import Any

from apps.economics.refusal import Refusal

LONGEST_SCENARIO = 40_000


def scenario_tables(text: str) -> dict[str, Any]:
    """The tables of a scenario; what begins with a brace is JSON. Refuses a Refusal."""
    form = "JSON" if text.lstrip().startswith("{") else "TOML"
    if len(text) > LONGEST_SCENARIO:
        raise Refusal("scenario", f"has over {LONGEST_SCENARIO:,} characters")
    try:
        tables: dict[str, Any] = json.loads(text) if form == "JSON" else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise Refusal("scenario", f"is not {form}: {error}") from error
    return tables
