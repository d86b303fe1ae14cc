"""Scenarios in files."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from apps.economics.refusal import Refusal
from apps.files.lines import FileUnreadable
from apps.files.unpacking import read_small_text
from apps.planning.queries.scenario_text import scenario_tables


def scenario_document(path: Path) -> dict[str, Any]:
    """A file's tables. Refuses a CommandError where it is not there, or is neither TOML nor JSON."""
    try:
        return scenario_tables(read_small_text(path))
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error
    except Refusal as refusal:
        raise CommandError(f"{path} {refusal.message}") from refusal
    except FileUnreadable as error:
        raise CommandError(f"{path} is not TOML: {error}") from error
