"""What people read of Runrate, as plain text: pages, scripts, texts in the code, REST descriptions, documents."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE = ("apps", "controlplane", "agents/agent/src", "agents/sdk/src")
BREAK = " | "
"""Stands where a tag stood, so that what two cells say does not run together."""

_COMMENT = re.compile(r"{#.*?#}|{%\s*comment.*?endcomment\s*%}|<!--.*?-->", re.DOTALL)
_ATTRIBUTE = re.compile(
    r'\b(?:aria-label|title|placeholder|alt|content|label|what|per|note)="([^"<]*)"'
)
_DJANGO_TAG = re.compile(r"{%.*?%}|{{.*?}}", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_SQL = re.compile(
    r"\b(?:SELECT|FROM|WHERE|JOIN|GROUP BY|VALUES|CREATE TABLE|COALESCE)\b|%\(\w+\)s|\w\(|^\w+ AS \w+$"
    r"|^\w+\.\w+ \*|^\w+ = \w+\.\w+$"
)
_KEY = re.compile(r"[a-z0-9_…?=&.:/#-]*")
HTTP_METHODS = frozenset({"get", "post", "put", "patch", "delete"})


@cache
def texts() -> tuple[tuple[str, str], ...]:
    """Each file by its path from the root, and a text that people see of it, on one line."""
    return tuple(
        (path.relative_to(ROOT).as_posix(), " ".join(text.split()))
        for path, text in _texts_by_file()
    )


def _texts_by_file() -> Iterator[tuple[Path, str]]:
    for path in _files("templates", "*.html", "*.txt"):
        yield path, template_text(path.read_text())
    for path in (ROOT / "static/js").glob("*.js"):
        yield path, path.read_text()
    for room in CODE:
        for path in _files(room, "*.py"):
            for text in python_texts(path):
                yield path, text
    for path in [*ROOT.glob("*.md"), *_files("agents", "*.md"), *_files("docs", "*.md")]:
        yield path, path.read_text()


def _files(folder: str, *endings: str) -> Iterator[Path]:
    for ending in endings:
        for path in (ROOT / folder).rglob(ending):
            if not {"migrations", ".venv", "node_modules"} & set(path.parts):
                yield path


def template_text(source: str) -> str:
    """Its words and the words of its attributes, without tags, comments and variables."""
    source = _COMMENT.sub(" ", source)
    attributes = BREAK.join(_ATTRIBUTE.findall(source))
    return _TAG.sub(BREAK, _DJANGO_TAG.sub(" ", source)) + BREAK + attributes


def python_texts(path: Path) -> Iterator[str]:
    """Its string literals but keys and SQL; of the REST surface the docstrings that describe it."""
    tree = ast.parse(path.read_text())
    unseen = {id(each) for each in _unseen(tree)}
    for node in ast.walk(tree):
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
    if "api" in path.parts or path.name == "api.py":
        yield from _descriptions(tree)


def _unseen(tree: ast.Module) -> Iterator[ast.AST]:
    """Parts of f-strings, docstrings and other bare strings, and the names that `__all__` lists."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield from node.values
        elif isinstance(node, ast.Expr):
            yield node.value
        elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            yield from ast.walk(node.value)


def _descriptions(tree: ast.Module) -> Iterator[str]:
    """Docstrings of views, their methods and serializers: the OpenAPI document has them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            methods = [
                each
                for each in node.body
                if isinstance(each, ast.FunctionDef) and each.name in HTTP_METHODS
            ]
            for described in (node, *methods):
                yield ast.get_docstring(described) or ""
