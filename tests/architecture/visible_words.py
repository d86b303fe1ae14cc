"""What people read of Runrate, as plain text: pages, scripts, texts in the code, REST descriptions, documents."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.architecture.python_sources import ROOT, python_sources

CODE = ("apps/", "controlplane/", "agents/agent/src/", "agents/sdk/src/")
BREAK = " | "
"""Stands where a tag stood, so that what two cells say does not run together."""

_COMMENT = re.compile(r"{#.*?#}|{%\s*comment.*?endcomment\s*%}|<!--.*?-->", re.DOTALL)
_ATTRIBUTE = re.compile(
    r'\b(?:aria-label|title|placeholder|alt|content|label|what|per|note)="([^"<]*)"'
)
_DJANGO_TAG = re.compile(r"{%.*?%}|{{.*?}}", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")


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
    for source in python_sources():
        if source.path.as_posix().startswith(CODE):
            for text in source.seen:
                yield ROOT / source.path, text
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
