"""Writes the pages of the documentation that are made of declared values: `.venv/bin/python -m deploy.write_docs`.

What the console shows of them and what a reader of docs/ sees are thus one text. A test compares.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from apps.console.kit.methods import ANSWERS, FIELDS, AnswerMethod
from apps.show.prose import markdown

DOCS = Path(__file__).resolve().parent.parent / "docs"
NOTE = "<!-- Made of {source} by `python -m deploy.write_docs`: change it there. -->"
PLANNING = "Each answer of *Plan*: its inputs, method, source and weaknesses, as the console shows them. The linked page has formulas and limits. Everything here is an estimate: nothing is posted to the ledger. What is not known is never zero; a fallback is named as one."  # fmt: skip


def generated_pages() -> Mapping[str, str]:
    """Return the text of each page that is made of declared values, by its name in docs/."""
    return {"planning.md": _planning_page()}


def main() -> None:
    """Write every page anew."""
    for name, text in generated_pages().items():
        (DOCS / name).write_text(text, encoding="utf-8")


def _planning_page() -> str:
    head = (
        "# Planning: which answer is from what",
        NOTE.format(source="apps/console/kit/methods"),
        PLANNING,
    )
    return "\n\n".join((*head, *("\n".join(_method_lines(method)) for method in ANSWERS))) + "\n"


def _method_lines(method: AnswerMethod) -> Iterator[str]:
    yield f"## {method.title}"
    for field in FIELDS:
        yield f"- **{field.label}**: {markdown(field.value(method))}"
    yield f"- {markdown(method.links)}"


if __name__ == "__main__":
    main()
