"""A dimension is added in one place: page, file, REST and filter have it without an edit."""

import csv
import io
from collections.abc import Iterator

import pytest
from django.test import Client

from apps.ledger.queries.cube import Dimension, add_dimension
from apps.ledger.queries.cube.dimensions import DIMENSIONS
from tests.apps.console.people import signed_in
from tests.apps.ledger.explored import DAY, make_explored

pytestmark = pytest.mark.django_db
GIVEN = {"window": DAY, "group_by": "unit"}


@pytest.fixture
def finn() -> Iterator[Client]:
    """Finance, after what capacity is counted in was made a dimension of costs."""
    make_explored()
    add_dimension(Dimension("unit", "Counted in", "Not counted"), after="pool")
    yield signed_in("finance")
    DIMENSIONS.pop("unit")


def test_the_page_groups_by_it_and_narrows_to_it(finn: Client) -> None:
    html = finn.get("/costs", GIVEN).content.decode()
    assert "By counted in" in html
    assert '<option value="unit" selected>Counted in</option>' in html
    assert "unit=gpu" in html
    assert "$688" in finn.get("/costs", {"window": DAY, "unit": "gpu"}).content.decode()
    assert "Nothing was charged" in finn.get("/costs", GIVEN | {"unit": "core"}).content.decode()


def test_files_and_rest_have_it(finn: Client) -> None:
    text = finn.get("/costs.csv", GIVEN | {"table": "groups"}).content.decode()
    (row,) = csv.DictReader(io.StringIO(text))
    (told,) = finn.get("/api/v1/costs/explore", GIVEN).json()["results"]
    assert (row["unit"], told["groups"][0]["name"], told["groups"][0]["filter"]) == ("gpu",) * 3
    assert row["cost"] == told["cost"]["amount"]
    assert finn.get("/api/v1/costs/explore", GIVEN | {"unit": "core"}).json()["results"] == []
