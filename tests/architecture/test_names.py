"""A class has a name of its own in the whole tree; those that have not are listed, ever fewer."""

from pathlib import Path

import pytest

from bench.house import FIGURES, House

ROOT = Path(__file__).resolve().parents[2]
LISTED = Path(__file__).with_name("class_names_used_twice.txt")


@pytest.fixture(scope="module")
def house() -> House:
    return House(ROOT)


def test_the_class_names_that_are_used_twice_are_those_listed(house) -> None:
    """The list only shrinks: whoever gives a class a name of its own takes the old one off it."""
    listed = LISTED.read_text().split()
    found = house.class_names_used_twice()
    further = {name: places for name, places in found.items() if name not in listed}
    assert further == {}, "find a name that is nobody else's"
    assert [name for name in listed if name not in found] == [], "no longer used twice: strike it"


def test_what_is_counted_is_counted_by_place(tmp_path) -> None:
    files = {
        "apps/ledger/__init__.py": '"""A room."""\n',
        "apps/ledger/one.py": (
            'class Span: ...\nclass Meta: ...\nSQL = "SELECT 1 FROM fleet_node JOIN ledger_line"\n'
            "def _row(): ...\ndef _row_of_day(): ...\n"
        ),
        "apps/ledger/audit_lines.py": 'SQL = "SELECT 1 FROM fleet_node"\n',
        "apps/ledger/migrations/0001.py": "class Span: ...\n",
        "apps/fleet/two.py": (
            'class Span: ...\nclass Meta: ...\nSQL = "SELECT 1 FROM fleet_changed"\n'
        ),
        "apps/marks/models.py": 'class Changed:\n    class Meta:\n        db_table = "fleet_changed"\n',
        "apps/console/page.py": "import csv_answer\ncsv_answer(1)\n",
        "templates/page.html": "<table></table> <table class='x'></table>",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    small = House(tmp_path)
    assert small.class_names_used_twice() == {
        "Span": ["apps/fleet/two.py:1", "apps/ledger/one.py:1"]
    }
    assert small.one_word_private_functions() == 1
    assert small.foreign_tables_in_sql() == {"apps/fleet/two.py": 1, "apps/ledger/one.py": 1}
    assert (small.calls_in_console("csv_answer"), small.tables_in_templates()) == (1, 2)
    assert small.lines_by_room()["ledger"] == 7


def test_the_page_of_the_house_has_every_figure() -> None:
    text = (ROOT / "docs" / "house.md").read_text()
    assert [name for name in FIGURES if f"| {name} |" not in text] == []
