"""The files that are installed around the agent: units of systemd, hooks of Slurm."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

FOLDERS = (
    Path(__file__).resolve().parent / "beside",
    # A checkout, installed so that its files can be edited.
    Path(__file__).resolve().parents[2],
)
KINDS = ("systemd", "slurm")
PROGRAM = "/opt/runrate-agent/bin/runrate-agent"
"""Where units look for the program, unless it is run from elsewhere."""


def files_beside() -> dict[str, Path]:
    """Where each file is, by its name."""
    return dict(_files())


def text_beside(name: str, program: Path | None = None) -> str:
    """The file's text, a unit's with the program's own place. Refuses KeyError."""
    path = files_beside()[name]
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".service":
        return text
    return text.replace(PROGRAM, str(program or _own_program()))


def _files() -> Iterator[tuple[str, Path]]:
    for folder in FOLDERS:
        for kind in KINDS:
            if (folder / kind).is_dir():
                yield from ((path.name, path) for path in sorted((folder / kind).iterdir()))


def _own_program() -> Path:
    """The program that runs, where it is the installed one."""
    own = Path(sys.argv[0])
    return own.resolve() if own.name == "runrate-agent" and own.is_file() else Path(PROGRAM)
