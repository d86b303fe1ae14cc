"""A row of a statement is taken apart by names: no part of it is cut out by where it stands."""

import re

from tests.architecture.python_sources import ROOT

CUT = re.compile(r"\brow\[(?:\d+:\d*|:\d+)\]")


def test_no_row_is_cut_at_a_number() -> None:
    files = [path for room in ("apps", "controlplane") for path in (ROOT / room).rglob("*.py")]

    cut_rows = [
        f"{path.relative_to(ROOT)}: {cut.group()}"
        for path in files
        if "migrations" not in path.parts
        for cut in CUT.finditer(path.read_text())
    ]

    assert cut_rows == []
