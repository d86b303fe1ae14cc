"""Counts what the house is made of: `python -m bench.house`, with `--against COMMIT` beside it.

Reads source only, of any commit: nothing of it is imported. docs/reference/house.md says what was counted
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
LONGEST = 80
RETIRED_NAMES = frozenset(
    [
        "told",
        "tell",
        "tells",
        "telling",
        "said",
        "says",
        "asked",
        "asks",
        "ask",
        "found",
        "given",
        "known",
        "each",
        "behind",
        "standing",
        "stands",
        "living",
        "lived",
        "lives",
        "came",
        "come",
        "beside",
        "whole",
        "own",
        "held",
        "turned",
        "here",
        "thing",
        "things",
        "whose",
        "who",
        "meant",
        "seen",
        "looked",
        "looks",
        "look",
        "anew",
        "put",
        "stood",
        "rest",
        "gone",
        "went",
        "made",
        "make",
        "kept",
        "keeps",
        "laid",
        "lay",
    ]
)
"""Pronouns and participles that name no value: the noun does (`for job in jobs`)."""
OPENERS = re.compile(r"(?:What|Whose|Which|The same)\b")
"""Docstrings that begin so say nothing by themselves."""

PUBLISHED = "_fact"
TABLE = re.compile(r"\b(?:FROM|JOIN)\s+(?:ONLY\s+)?(([a-z]+)_\w+)", re.IGNORECASE)
ONE_WORD = re.compile(r"_[a-z0-9]+")

Function = ast.FunctionDef | ast.AsyncFunctionDef
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


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
    """A tree of files: `apps`, without migrations."""

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

    def retired_names(self) -> list[str]:
        """Return where a value of a function, or a parameter, has a retired name: `path:line name`."""
        return [
            f"{source.path}:{line} {name}"
            for source in self.sources
            for line, name in sorted(set(_values_of_functions(source)))
            if name in RETIRED_NAMES
        ]

    def leaning_docstrings(self) -> list[str]:
        """Return where a docstring opens with What, Whose, Which or The same: `path:line`."""
        return [
            f"{source.path}:{node.body[0].lineno}"
            for source in self.sources
            for node in source.nodes
            if isinstance(node, DOCUMENTED) and OPENERS.match(ast.get_docstring(node) or "")
        ]

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


def _values_of_functions(source: Source) -> Iterator[tuple[int, str]]:
    """Names that functions, lambdas and comprehensions give to values, with their lines; fields of classes are none."""
    for node in source.nodes:
        if isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, Function | ast.Lambda):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                    yield inner.lineno, inner.id


def p90(numbers: list[int]) -> int:
    """What nine in ten are at most."""
    return numbers[int(len(numbers) * 0.9)]


FIGURES: Mapping[str, Callable[[House], int]] = {
    "lines of apps, without migrations": lambda house: sum(house.lines_by_room().values()),
    "lines of console": lambda house: house.lines_by_room().get("console", 0),
    "lines of ledger": lambda house: house.lines_by_room().get("ledger", 0),
    "lines of comments and docstrings": House.lines_of_comments,
    "functions": lambda house: len(house.lengths_of_functions()),
    f"functions of more than {LONGEST} lines": lambda house: sum(
        length > LONGEST for length in house.lengths_of_functions()
    ),
    "lines of a function, p90": lambda house: p90(house.lengths_of_functions()),
    "values with a retired name": lambda house: len(house.retired_names()),
    "docstrings that open with What, Whose, Which or The same": lambda house: len(
        house.leaning_docstrings()
    ),
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
    parser.add_argument(
        "--names", action="store_true", help="list retired names and docstrings that lean"
    )
    asked = parser.parse_args()
    after = House(asked.folder)
    if asked.names:
        for line in (*after.retired_names(), *after.leaning_docstrings()):
            sys.stdout.write(f"{line}\n")
        return
    with tempfile.TemporaryDirectory() as folder:
        before = at_commit(asked.against, Path(folder)) if asked.against else None
        sys.stdout.write(table(before, after) + "\n")


if __name__ == "__main__":
    main()
