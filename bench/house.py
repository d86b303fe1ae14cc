"""Counts what the house is made of: `python -m bench.house`, with `--against COMMIT` beside it.

Reads source only, of any commit: nothing of it is imported. docs/house.md says what was counted
before and after.
"""

import argparse
import ast
import io
import re
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LONGEST = 50
NAMES_OF_FRAMEWORKS = {"Command", "Meta", "Migration", "Media"}
"""Django looks these up by name: that there are many says nothing."""

PUBLISHED = "_fact"
TABLE = re.compile(r"\b(?:FROM|JOIN)\s+(?:ONLY\s+)?(([a-z]+)_\w+)", re.IGNORECASE)
CLASS = re.compile(r"^[ \t]*class (\w+)\s*[(:]", re.MULTILINE)
ONE_WORD = re.compile(r"_[a-z0-9]+")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Source:
    """A file of Python and what it says."""

    path: Path
    text: str

    @property
    def room(self) -> str:
        """`ledger` of apps/ledger/…, `controlplane` of its own files."""
        return self.path.parts[-2] if len(self.path.parts) < 3 else self.path.parts[1]

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Everything that it is made of."""
        return list(ast.walk(ast.parse(self.text)))

    def functions(self) -> Iterator[Function]:
        """All, nested ones and methods too."""
        return (node for node in self.nodes if isinstance(node, Function))


@dataclass(frozen=True)
class House:
    """A tree of files; `apps` and, for names of classes, `controlplane`, without migrations."""

    root: Path

    @cached_property
    def sources(self) -> list[Source]:
        """Of apps, in the order of their paths."""
        return self.sources_of("apps")

    def sources_of(self, folder: str) -> list[Source]:
        """All but migrations."""
        return [
            Source(path.relative_to(self.root), path.read_text())
            for path in sorted((self.root / folder).rglob("*.py"))
            if "migrations" not in path.parts
        ]

    def lines_by_room(self) -> Mapping[str, int]:
        """Lines of each app, the largest first."""
        counts: Counter[str] = Counter()
        for source in self.sources:
            counts[source.room] += source.text.count("\n")
        return dict(counts.most_common())

    def lines_of_comments(self) -> int:
        """Lines that are a comment and nothing else, and lines of docstrings."""
        comments = sum(
            line.lstrip().startswith("#")
            for source in self.sources
            for line in source.text.splitlines()
        )
        return comments + sum(
            (node.value.end_lineno or 0) - node.lineno + 1
            for source in self.sources
            for node in source.nodes
            if isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        )

    def class_names_used_twice(self) -> Mapping[str, list[str]]:
        """Names of classes that are defined in more than one place, with where they are."""
        found: dict[str, list[str]] = {}
        for source in (*self.sources, *self.sources_of("controlplane")):
            for defined in CLASS.finditer(source.text):
                if defined[1] not in NAMES_OF_FRAMEWORKS:
                    line = source.text.count("\n", 0, defined.start(1)) + 1
                    found.setdefault(defined[1], []).append(f"{source.path}:{line}")
        return {name: places for name, places in sorted(found.items()) if len(places) > 1}

    def one_word_private_functions(self) -> int:
        """Such as `_row`: too short to search for."""
        return sum(
            ONE_WORD.fullmatch(function.name) is not None
            for source in self.sources
            for function in source.functions()
        )

    def lengths_of_functions(self) -> list[int]:
        """Lines after the one with `def`, the shortest first."""
        return sorted(
            (function.end_lineno or function.lineno) - function.lineno
            for source in self.sources
            for function in source.functions()
        )

    def calls_in_console(self, name: str) -> int:
        """How often the pages call a function of this name."""
        return sum(
            isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
            for source in self.sources
            if source.room == "console"
            for node in source.nodes
        )

    def uses_of_forms(self) -> int:
        """Files that import django.forms."""
        return sum(
            "django.forms" in s.text or "django import forms" in s.text for s in self.sources
        )

    def tables_in_templates(self) -> int:
        """`<table` in HTML."""
        return sum(p.read_text().count("<table") for p in (self.root / "templates").rglob("*.html"))

    def foreign_tables_in_sql(self) -> Mapping[str, int]:
        """Files whose SQL reads tables of another app, but for the audit, and how often.

        A table is its app's by its name, or by the `db_table` of a model that moved; a view of
        facts is there to be asked by others.
        """
        rooms, owners = set(self.lines_by_room()), self.tables_that_moved()
        found: Counter[str] = Counter()
        for source in self.sources:
            if source.path.name.startswith("audit"):
                continue
            for node in source.nodes:
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    owned = [
                        owners.get(name, by)
                        for name, by in TABLE.findall(node.value)
                        if not name.endswith(PUBLISHED)
                    ]
                    found[str(source.path)] += sum(
                        room in rooms and room != source.room for room in owned
                    )
        return {path: count for path, count in sorted(found.items()) if count}

    def tables_that_moved(self) -> Mapping[str, str]:
        """The room of each table that a model names itself."""
        return {
            node.value.value: source.room
            for source in self.sources
            for node in source.nodes
            if isinstance(node, ast.Assign)
            and [each.id for each in node.targets if isinstance(each, ast.Name)] == ["db_table"]
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        }


def p90(numbers: list[int]) -> int:
    """What nine in ten are at most."""
    return numbers[int(len(numbers) * 0.9)]


FIGURES: Mapping[str, Callable[[House], int]] = {
    "lines of apps, without migrations": lambda house: sum(house.lines_by_room().values()),
    "lines of console": lambda house: house.lines_by_room().get("console", 0),
    "lines of ledger": lambda house: house.lines_by_room().get("ledger", 0),
    "lines of comments and docstrings": House.lines_of_comments,
    "functions": lambda house: len(house.lengths_of_functions()),
    "functions of more than 50 lines": lambda house: sum(
        length > LONGEST for length in house.lengths_of_functions()
    ),
    "lines of a function, p90": lambda house: p90(house.lengths_of_functions()),
    "class names used twice": lambda house: len(house.class_names_used_twice()),
    "one-word private functions": House.one_word_private_functions,
    "CSV answers by hand in console": lambda house: house.calls_in_console("csv_answer"),
    "`<table>` in templates": House.tables_in_templates,
    "files that use django.forms": House.uses_of_forms,
    "files whose SQL names foreign tables": lambda house: len(house.foreign_tables_in_sql()),
    "foreign tables named in SQL": lambda house: sum(house.foreign_tables_in_sql().values()),
}


def table(before: House | None, after: House) -> str:
    """The figures as Markdown, and the lines of each room."""
    names = ("before", "after") if before else ("now",)
    houses = [house for house in (before, after) if house]
    rows = [f"| figure | {' | '.join(names)} |", "|---|" + "---:|" * len(names)]
    for name, figure in FIGURES.items():
        rows.append(f"| {name} | " + " | ".join(f"{figure(house):,}" for house in houses) + " |")
    rows += ["", f"| room | {' | '.join(names)} |", "|---|" + "---:|" * len(names)]
    for room in sorted({room for house in houses for room in house.lines_by_room()}):
        counts = [house.lines_by_room().get(room) for house in houses]
        told = " | ".join("" if count is None else f"{count:,}" for count in counts)
        rows.append(f"| {room} | {told} |")
    return "\n".join(rows)


def at_commit(commit: str, folder: Path) -> House:
    """The tree of a commit, written into `folder`."""
    packed = subprocess.run(
        ["git", "archive", commit, "apps", "controlplane", "templates"],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return House(folder)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT)
    parser.add_argument("--against", metavar="COMMIT", help="count this commit too, as before")
    parser.add_argument("--names", action="store_true", help="list class names used twice")
    asked = parser.parse_args()
    after = House(asked.folder)
    if asked.names:
        for name, places in after.class_names_used_twice().items():
            sys.stdout.write(f"{name}: {', '.join(places)}\n")
        return
    with tempfile.TemporaryDirectory() as folder:
        before = at_commit(asked.against, Path(folder)) if asked.against else None
        sys.stdout.write(table(before, after) + "\n")


if __name__ == "__main__":
    main()
