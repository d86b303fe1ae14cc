"""A figure has one name: a column of a console's file is called as the REST field of the same attribute.

A column that shows one attribute of its row as it is, read from the source, and the field of the serializer of the same
rows that does. Which serializer that is, is told by how many attributes both show.
"""

import ast
import importlib
import pkgutil
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from rest_framework.serializers import CharField, Serializer

from apps.console import pages
from apps.console.kit.table import Table
from apps.web.rest.table_lists import RowAnswer
from tests.architecture.python_sources import ROOT

FEWEST = 4
"""So many attributes a table and a serializer share, and half of the table's, before they are of the same rows."""
OF_ITS_OWN: Mapping[str, str] = {
    "closes/tables.py lines": "lines of a statement, which REST does not list",
    "imports/pages.py imports": "imports of jobs, of which REST has no list",
    "series_imports/pages.py series-imports": "imports of histories, counted in hours",
}
"""Tables that only look like what REST answers, and of what they are."""
FLAT = (
    "REST has the parts of `promised` and `measured` in one object each; a file says whose they are"
)
STAYS: Mapping[tuple[str, str], str] = {
    ("recommendations/tables.py measured", f"{whose}{part}"): FLAT
    for whose in ("promised", "measured")
    for part in ("", "_low", "_high")
}
"""By table and column why a column is called otherwise all the same."""

Names = dict[str, set[str]]
"""What each attribute is called, by the last of the names that it is reached through."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A table or a serializer, and what it calls what it shows."""

    name: str
    names: Names


def _trees(folder: Path) -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(folder.rglob("*.py")):
        if "migrations" not in path.parts:
            yield path, ast.parse(path.read_text())


def _said(call: ast.Call, name: str, place: int | None = None) -> object:
    """The constant of an argument; None without one."""
    given = next((each.value for each in call.keywords if each.arg == name), None)
    if given is None and place is not None and place < len(call.args):
        given = call.args[place]
    return given.value if isinstance(given, ast.Constant) else None


def _calls(tree: ast.AST, name: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func.value if isinstance(node.func, ast.Subscript) else node.func
            if isinstance(called, ast.Name) and called.id == name:
                yield node


def _attribute(column: ast.Call) -> str:
    """The attribute of the row that a column shows as it is; empty of one that is computed."""
    value = column.args[2] if len(column.args) > 2 else None
    body: ast.expr | None = value.body if isinstance(value, ast.Lambda) else None
    if isinstance(body, ast.BoolOp) and isinstance(body.op, ast.And):
        # `row.measured and row.measured.days`: where there is one.
        body = body.values[-1]
    last = body.attr if isinstance(body, ast.Attribute) else ""
    while isinstance(body, ast.Attribute):
        body = body.value
    return last if isinstance(body, ast.Name) else ""


def table_shown(path: str, call: ast.Call) -> Shown:
    """What the file of a table calls its attributes."""
    names: Names = defaultdict(set)
    for column in _calls(call, "Column"):
        csv, attribute = _said(column, "csv"), _attribute(column)
        called = _said(column, "key", 0) if csv is None else csv
        if attribute and called:
            names[attribute].add(str(called))
    return Shown(f"{path} {_said(call, 'name', 0)}", names)


def serializer_shown(made: type[Serializer[Any]]) -> Shown:
    """What a serializer calls its attributes."""
    names: Names = defaultdict(set)
    for name, field in made().get_fields().items():
        names[str(field.source or name).rpartition(".")[2]].add(name)
    return Shown(made.__name__, names)


def twin_of(table: Shown, serializers: Mapping[str, Shown]) -> Shown | None:
    """The serializer of the same rows: the one that shows most of what the table does; None where none shows half."""

    def likeness(one: Shown) -> tuple[int, int]:
        shared = table.names.keys() & one.names.keys()
        return len(shared), sum(bool(table.names[each] & one.names[each]) for each in shared)

    best = max(serializers.values(), key=likeness)
    return best if likeness(best)[0] >= max(FEWEST, len(table.names) / 2) else None


def others(table: Shown, twin: Shown) -> dict[str, set[str]]:
    """Columns that are called otherwise than the fields of their attributes, with what those are called."""
    return {
        column: twin.names[attribute]
        for attribute in sorted(table.names.keys() & twin.names.keys())
        for column in sorted(table.names[attribute] - twin.names[attribute])
    }


@cache
def every_serializer() -> Mapping[str, Shown]:
    """Those that answer, by name."""
    found: dict[str, Shown] = {}
    for path, tree in _trees(ROOT / "apps"):
        answers = [
            node.name
            for node in tree.body
            if isinstance(node, ast.ClassDef) and node.name.endswith("Out")
        ]
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for name in answers:
            made = getattr(importlib.import_module(module), name)
            if issubclass(made, Serializer):
                found[name] = serializer_shown(made)
    return found


@cache
def every_pair() -> tuple[tuple[Shown, Shown], ...]:
    """Tables of the console with the serializers of the same rows."""
    folder = ROOT / "apps/console/pages"
    tables = (
        table_shown(str(path.relative_to(folder)), call)
        for path, tree in _trees(folder)
        for call in _calls(tree, "Table")
    )
    paired = ((table, twin_of(table, every_serializer())) for table in tables)
    return tuple((table, twin) for table, twin in paired if twin is not None)


def test_a_column_is_called_as_the_field_of_the_same_attribute() -> None:
    found = {
        (table.name, column): (twin.name, fields)
        for table, twin in every_pair()
        for column, fields in others(table, twin).items()
    }
    unsaid = {
        key: said for key, said in found.items() if key not in STAYS and key[0] not in OF_ITS_OWN
    }
    assert unsaid == {}
    assert set(STAYS) <= set(found), "a column that is called alike needs no reason"
    assert set(OF_ITS_OWN) <= {table for table, _ in found}, "nor does a table"


def test_the_tables_are_found() -> None:
    """Those that REST answers by their own columns have no other names, and count as well."""
    # Looking for pairs loads every answer.
    pairs = every_pair()
    answered = [made for made in RowAnswer.__subclasses__() if made.__module__.startswith("apps.")]
    assert len(pairs) + len(answered) > 50


def test_another_name_is_seen() -> None:
    columns = ", ".join(
        f'Column("{name}", "", lambda row: row.fact.{name})' for name in ("a", "b", "c", "d")
    )
    source = f'Table[Row]("t", "T", ({columns}))'
    (call,) = _calls(ast.parse(source), "Table")
    fields = {
        name: CharField(source=None if name == attribute else attribute)
        for name, attribute in (("a", "a"), ("b", "b"), ("c", "fact.c"), ("delta", "d"))
    }
    made = type("RowOut", (Serializer,), fields)
    table, out = table_shown("t.py", call), serializer_shown(made)
    assert twin_of(table, {"RowOut": out}) is out
    assert others(table, out) == {"d": {"delta"}}


def _declared() -> Iterator[tuple[str, Table]]:
    for found in pkgutil.walk_packages(pages.__path__, f"{pages.__name__}."):
        for name, value in vars(importlib.import_module(found.name)).items():
            if isinstance(value, Table):
                yield f"{found.name}.{name}", value


@pytest.mark.parametrize(
    ("name", "table"), [pytest.param(*each, id=each[0]) for each in _declared()]
)
def test_no_two_columns_of_a_file_have_one_name(name: str, table: Table) -> None:
    told = [column.csv_name for column in table.csv_columns]
    assert len(told) == len(set(told)), name
    assert set(table.csv_first) <= set(told), "a file begins with columns that it has"
