"""The product's own Python, parsed once for all tests here: what each file says, without its tree.

Trees of the whole product take a good part of a gibibyte, and everything that runs after them in the
process slows down: they are let go file by file.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("apps", "controlplane", "agents", "bench", "deploy", "docs")
LONGEST = 80
"""Lines of a function after the one with `def`."""
HTTP_METHODS = frozenset({"get", "post", "put", "patch", "delete"})

_SQL = re.compile(
    r"\b(?:SELECT|FROM|WHERE|JOIN|GROUP BY|VALUES|CREATE TABLE|COALESCE)\b|%\(\w+\)s|\w\(|^\w+ AS \w+$"
    r"|^\w+\.\w+ \*|^\w+ = \w+\.\w+$"
)
_KEY = re.compile(r"[a-z0-9_…?=&.:/#-]*")
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)


@dataclass(frozen=True, slots=True)
class PythonSource:
    """One file: its path from the root, its text, and what the tests here ask of it."""

    path: Path
    text: str
    long_functions: tuple[str, ...]
    names: frozenset[str]
    """Everything that it names, attributes too."""
    imported_from: frozenset[str]
    """Modules from which it imports names."""
    log_lines: tuple[tuple[int, str, int], ...]
    """Where it writes a line by Python's own logging: line, text, number of values."""
    strings: tuple[str, ...]
    """Its string literals but docstrings."""
    seen: tuple[str, ...]
    """Those that people may see: no keys and no SQL; of the REST surface its descriptions too."""

    @property
    def room(self) -> str:
        """`ledger` of apps/ledger/…, else the folder."""
        return self.path.parts[1] if self.path.parts[0] == "apps" else self.path.parts[0]


@cache
def python_sources() -> tuple[PythonSource, ...]:
    """Of every folder but the tests', without migrations."""
    return tuple(
        _read(path)
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
        if not {"migrations", ".venv", "build"} & set(path.parts)
    )


def _read(path: Path) -> PythonSource:
    text, place = path.read_text(), path.relative_to(ROOT)
    nodes = list(_walked(ast.parse(text)))
    return PythonSource(
        place,
        text,
        long_functions=tuple(_long_functions(nodes)),
        names=frozenset(_names(nodes)),
        imported_from=frozenset(
            node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module
        ),
        log_lines=tuple(_log_lines(nodes)),
        strings=tuple(_strings(nodes)),
        seen=tuple(_seen(nodes, is_rest="api" in place.parts or place.name == "api.py")),
    )


def _walked(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but whether a name is read or written, which are half of them."""
    ahead = [tree]
    while ahead:
        node = ahead.pop()
        yield node
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                ahead += [each for each in value if isinstance(each, ast.AST)]
            elif isinstance(value, ast.AST) and name != "ctx":
                ahead.append(value)


def _long_functions(nodes: Sequence[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and (node.end_lineno or 0) - node.lineno > LONGEST
        ):
            yield f"{node.lineno} {node.name}"


def _names(nodes: Sequence[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


def _log_lines(nodes: Sequence[ast.AST]) -> Iterator[tuple[int, str, int]]:
    for node in nodes:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        by = node.func.value
        if isinstance(by, ast.Name) and by.id in {"log", "logger"} and node.args:
            said = node.args[0]
            text = str(said.value) if isinstance(said, ast.Constant) else ast.unparse(said)
            yield node.lineno, text, len(node.args) - 1


def _strings(nodes: Sequence[ast.AST]) -> Iterator[str]:
    bodies = [node.body for node in nodes if isinstance(node, _DOCUMENTED)]
    docstrings = {id(body[0].value) for body in bodies if body and isinstance(body[0], ast.Expr)}
    for node in nodes:
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in docstrings
        ):
            yield node.value


def _seen(nodes: Sequence[ast.AST], *, is_rest: bool) -> Iterator[str]:
    unseen = {id(each) for each in _unseen(nodes)}
    for node in nodes:
        text = ""
        if isinstance(node, ast.JoinedStr):
            text = "".join(
                str(value.value) if isinstance(value, ast.Constant) else "…"
                for value in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = "" if id(node) in unseen else node.value
        if not _KEY.fullmatch(text) and not _SQL.search(text):
            yield text
    if is_rest:
        yield from _descriptions(nodes)


def _unseen(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Parts of f-strings, docstrings and other bare strings, and the names that `__all__` lists."""
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            yield from node.values
        elif isinstance(node, ast.Expr):
            yield node.value
        elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            yield from ast.walk(node.value)


def _descriptions(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """Docstrings of views, their methods and serializers: the OpenAPI document has them."""
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            yield ast.get_docstring(node) or ""
            for each in node.body:
                if isinstance(each, ast.FunctionDef) and each.name in HTTP_METHODS:
                    yield ast.get_docstring(each) or ""
