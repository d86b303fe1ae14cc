"""Values are named by their nouns, and docstrings stand alone."""

from pathlib import Path

import pytest

from bench.house import FIGURES, House

ROOT = Path(__file__).resolve().parents[2]
ALLOWED = frozenset(
    {
        ("apps/console/kit/entries.py", "said"),
        ("apps/ledger/actions/settle.py", "tell"),
        ("apps/pricing/actions/quotas.py", "held"),
    }
)
"""Path and name of parameters that callers of several functions give by this name."""


@pytest.fixture(scope="module")
def house() -> House:
    return House(ROOT)


def test_no_value_has_a_retired_name(house) -> None:
    retired = {(line.split(":")[0], line.split()[-1]) for line in house.retired_names()}
    assert sorted(retired - ALLOWED) == [], "name the value by its noun"
    assert sorted(ALLOWED - retired) == [], "no longer there: strike it"


def test_every_docstring_stands_alone(house) -> None:
    assert house.leaning_docstrings() == [], "say what it is or does: Return the …"


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
        "apps/fleet/three.py": (
            '"""What is here."""\ndef jobs_of(said): return [each for each in said]\nclass Seen:\n    found: int = 0\n'
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
    assert small.retired_names() == ["apps/fleet/three.py:2 each", "apps/fleet/three.py:2 said"]
    assert small.leaning_docstrings() == ["apps/fleet/three.py:1"]
    assert small.one_word_private_functions() == 1
    assert small.foreign_tables_in_sql() == {"apps/fleet/two.py": 1, "apps/ledger/one.py": 1}
    assert (small.calls_in_console("csv_answer"), small.tables_in_templates()) == (1, 2)
    assert small.lines_by_room()["ledger"] == 7


def test_the_page_of_the_house_has_every_figure() -> None:
    text = (ROOT / "docs" / "reference" / "house.md").read_text()
    assert [name for name in FIGURES if f"| {name} |" not in text] == []
