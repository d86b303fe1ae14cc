"""What the code says to people it never reads back: no field, method or rule is cut out of words."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
CUTS = (
    re.compile(
        r"""str\((refus\w*|problem|error|exc)\)\.(partition|split|removeprefix|startswith)"""
    ),
    re.compile(r"""partition\(": "\)"""),
    re.compile(r"""\.words\.(startswith|endswith|partition)\("""),
    re.compile(r"""== "no change\"|startswith\("no \""""),
    re.compile(r"""/ "docs\""""),
    re.compile(
        r"""(substr|starts_with|split_part)\((\w+\.)?(reason|matched_by|detail|failure)\b"""
    ),
)


def test_no_code_cuts_a_word_out_of_a_message() -> None:
    files = [path for room in ("apps", "controlplane") for path in (ROOT / room).rglob("*.py")]

    found = [
        f"{path.relative_to(ROOT)}: {cut.group()}"
        for path in files
        if "migrations" not in path.parts
        for pattern in CUTS
        for cut in pattern.finditer(path.read_text())
    ]

    assert found == []
