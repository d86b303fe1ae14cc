"""REST lists that are answered by the table of their page."""

from typing import Any

from tests.rest import Caller


def assert_listed_as_on_page(
    caller: Caller, path: str, *, page: Any, file: str, sort: str, **parameters: Any
) -> None:
    """The CSV of a list in an order is the `file` of its page in that order, and another order is refused.

    `page` is a client of the console, `file` the address of the file with its order.
    """
    answer = caller.get(path, "text/csv", sort=sort, **parameters)
    assert answer.status_code == 200, answer.content
    assert answer.content.decode() == page.get(file).content.decode()
    refused = caller.get(path, sort="no_column", **parameters)
    assert refused.status_code == 400
    assert [error["field"] for error in refused.json()["errors"]] == ["sort"]
