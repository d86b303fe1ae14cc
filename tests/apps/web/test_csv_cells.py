"""What stands in a cell of a list as CSV."""

import pytest

from apps.web.rest.tables import CsvRenderer


def cell(value: object) -> str:
    table = CsvRenderer().render({"results": [{"first": value}]})
    return table.splitlines()[1]


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+1+1",
        "-1+1",
        "@SUM(A1)",
        "\t=1",
        "-1.2.3",
        "-",
        " =1+1",
        "\u00a0@a",
        "＝1+1",
        " \t＋1",
        "－2a",
    ],
)
def test_a_text_that_a_spreadsheet_would_compute_is_told_to_be_text(text: str) -> None:
    assert cell(text).startswith("'")


@pytest.mark.parametrize("number", ["-12.400000", "-0.5", "+3", "12.400000"])
def test_a_number_below_zero_stays_a_number(number: str) -> None:
    assert cell({"amount": number, "currency": "USD"}) == f"{number},USD"
