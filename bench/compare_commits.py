"""Whether two commits come to the same figures: `python -m bench.compare_commits BEFORE [AFTER]`.

Each is checked out by itself, with an environment of its own, fills the demo in a home of its own, and
tells its tables of money and its REST answers by names instead of numbers. The demo ends with the
running hour, so both have to be filled within one; a run that would not is put off to the next.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.machine import ROOT

LAST_MINUTE = 35
"""Of an hour, to begin in: two demos take a few minutes each."""
Told = dict[str, Any]


def main(before: str, after: str) -> int:
    """Print what differs as JSON; 1 where anything does."""
    while datetime.now(UTC).minute > LAST_MINUTE:
        time.sleep(30)
    with tempfile.TemporaryDirectory() as folder:
        # The embedded database runs as an account of its own, which has to pass here.
        Path(folder).chmod(0o755)
        first = _told(Path(folder) / "before", before, {})
        second = _told(Path(folder) / "after", after, first["columns"])
    differences = _differences(first, second)
    figures = {
        "tables": len(first["tables"]),
        "rows": sum(each["rows"] for each in first["tables"].values()),
        "addresses": len(first["answers"]),
        "differences": differences,
        "hours": [first["hour"], second["hour"]],
    }
    print(json.dumps(figures, indent=1))
    return 1 if differences or first["hour"] != second["hour"] else 0


def _told(folder: Path, commit: str, columns: Told) -> Told:
    """What the demo of a commit comes to."""
    tree, home = folder / "tree", folder / "home"
    _run(ROOT, os.environ, "git", "worktree", "add", "--detach", tree, commit)
    kept = {key: text for key, text in os.environ.items() if not key.startswith("RUNRATE_")}
    kept |= {"RUNRATE_HOME": str(home), "PYTHONPATH": str(tree)}
    python = tree / ".venv" / "bin" / "python"
    reader = ROOT / "bench" / "compare_commits_read.py"
    try:
        (tree / ".uv").symlink_to(ROOT / ".uv")
        _run(tree, kept, "make", "setup")
        hour = datetime.now(UTC).strftime("%FT%H")
        _run(tree, kept, python, "manage.py", "demo", "--no-serve", "--json")
        printed = _run(tree, kept, python, reader, json.dumps(columns))
    finally:
        _run(ROOT, os.environ, "git", "worktree", "remove", "--force", tree)
    told: Told = json.loads(printed.splitlines()[-1])
    return told | {"hour": hour}


def _run(folder: Path, environment: Mapping[str, str], *command: str | Path) -> str:
    """What a command printed; its failure is ours."""
    done = subprocess.run(
        command, cwd=folder, env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout


def _differences(first: Told, second: Told) -> list[str]:
    found = [
        f"table {name}: {figures} before, {second['tables'].get(name)} after"
        for name, figures in first["tables"].items()
        if second["tables"].get(name) != figures
    ]
    for address, answer in first["answers"].items():
        place = _first_difference(answer, second["answers"].get(address))
        if place:
            found.append(f"{address}: {place}")
    return found


def _first_difference(one: Any, other: Any, place: str = "") -> str:
    """Where two answers part; a field that only the later one has is an addition."""
    if isinstance(one, dict) and isinstance(other, dict):
        pairs = [(f"{place}.{key}", one[key], other.get(key, "(absent)")) for key in one]
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = [(f"{place}[{i}]", *pair) for i, pair in enumerate(zip(one, other, strict=True))]
    else:
        return "" if one == other else f"{place} {str(one)[:200]} before, {str(other)[:200]} after"
    parted = (_first_difference(left, right, where) for where, left, right in pairs)
    return next(filter(None, parted), "")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "HEAD"))
