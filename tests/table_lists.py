"""REST lists that are answered by the table of their page."""

import csv
import io
from typing import Any

import pytest

from apps.web.rest.pages import DEFAULT_LIMIT
from tests.rest import Caller


def assert_listed_as_on_page(
    caller: Caller,
    path: str,
    *,
    page: Any,
    file: str,
    sort: str,
    compared: str = "",
    **parameters: Any,
) -> None:
    """A list in an order has the rows of the `file` of its page in that order, as JSON and as CSV; another order is refused.

    `page` is a client of the console, `file` the address of the file with its order. What is `compared` is the column of
    the order, or another where the file has words for keys.
    """
    name = compared or sort.removeprefix("-")
    expected = [_plain(row[name]) for row in _rows(page.get(file).content)]
    answer = caller.get(path, sort=sort, **parameters)
    assert answer.status_code == 200, answer.content
    listed = [_written(row[name]) for row in answer.json()["results"]]
    assert listed == expected[: min(len(expected), DEFAULT_LIMIT)]
    table = caller.get(path, "text/csv", sort=sort, **parameters)
    assert [_written(row[name]) for row in _rows(table.content)] == expected
    refused = caller.get(path, sort="no_column", **parameters)
    assert refused.status_code == 400
    assert [error["field"] for error in refused.json()["errors"]] == ["sort"]


def _rows(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode())))


def _written(value: Any) -> Any:
    """A value of JSON or of a file: a number, the digits of an amount, a text, a moment to the second; None where it is not known."""
    if isinstance(value, dict):
        value = value.get("amount", value.get("name"))
    if value in ("", None):
        return None
    try:
        return float(value)
    except ValueError:
        return str(value)[:19]


def _plain(value: str) -> Any:
    """A value of a page's file, which has more or fewer decimals."""
    written = _written(value)
    return pytest.approx(written, rel=1e-6, abs=1e-6) if isinstance(written, float) else written
