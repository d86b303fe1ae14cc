"""Scenarios in TOML files."""

import tomllib
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError


def scenario_document(path: Path) -> dict[str, Any]:
    """A file's tables. Refuses a CommandError where it is not there or is not TOML."""
    try:
        return tomllib.loads(path.read_text())
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CommandError(f"{path} is not TOML: {error}") from error
