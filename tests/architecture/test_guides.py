"""Guides name commands, options, sweeps and questions that are there, and lead to pages that are."""

import re
from argparse import ArgumentParser
from datetime import date
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class

from apps.ledger.queries.closes import checklist
from controlplane.beat import beat_schedule
from tests import make

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
GUIDES = [each for each in PAGES if each.parent.name != "decisions" and each.name != "CHANGELOG.md"]
"""Pages of today: what decisions and releases name may have gone since."""
COMMAND = re.compile(r"manage\.py ([a-z_]+)((?:\\\n|[^`\n#])*)")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")


def options_of(parser: ArgumentParser) -> set[str]:
    """Every option of a command, those of what stands below it too."""
    found = set()
    for action in parser._actions:
        found.update(action.option_strings)
        if isinstance(action.choices, dict):
            for below in action.choices.values():
                found |= options_of(below)
    return found


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.name)
def test_commands_that_a_guide_names_are_there_with_their_options(path: Path) -> None:
    known = get_commands()
    wrong = set()
    for name, rest in COMMAND.findall(path.read_text()):
        app = known.get(name)
        if app is None:
            wrong.add(name)
            continue
        command = load_command_class(app, name) if isinstance(app, str) else app
        missing = set(OPTION.findall(rest)) - options_of(command.create_parser("manage.py", name))
        wrong |= {f"{name} {option}" for option in missing}
    assert wrong == set()


def anchors_of(path: Path) -> set[str]:
    """What GitHub makes of a page's headings: lower case, words joined by hyphens, the rest gone."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_what_a_page_leads_to_is_there(path: Path) -> None:
    wrong = []
    for place, anchor in LINK.findall(path.read_text()):
        target = (path.parent / place) if place else path
        if not target.exists() or (anchor and anchor not in anchors_of(target)):
            wrong.append(f"{place}#{anchor}")
    assert wrong == []


def table_under(page: str, head: str) -> list[list[str]]:
    """The cells of the rows under a table's head."""
    text = (ROOT / "docs" / page).read_text().split(head, 1)[1].split("\n\n")[0]
    return [[cell.strip(" `") for cell in line.split("|")[1:-1]] for line in text.splitlines()[2:]]


def test_the_operators_page_has_every_sweep_and_how_often_it_comes() -> None:
    units = {"s": 1, "min": 60, "h": 3600}
    shown = {}
    for name, every, _ in table_under("guides/operator.md", "| sweep | every | does |"):
        number, unit = every.split()
        shown[name] = float(number) * units[unit]
    assert shown == {name: each["schedule"] for name, each in beat_schedule.items()}


@pytest.mark.django_db
def test_the_page_of_the_months_end_has_every_question_and_whether_it_blocks() -> None:
    make.make_organisation()
    rows = table_under("guides/month-end.md", "| question | blocks | who answers it |")
    shown = {label: blocks == "yes" for label, blocks, _ in rows}
    asked = {each.label: each.is_blocking for each in checklist.checklist(date(2026, 3, 1))}
    assert asked.items() <= shown.items()
    source = Path(checklist.__file__).read_text()
    assert [label for label in shown if f'"{label}"' not in source] == []
