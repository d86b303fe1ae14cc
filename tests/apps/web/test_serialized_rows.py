"""Rows of answers as their serializers make them: amounts in the currency, names with ids, parts of parts."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest
from rest_framework import serializers

from apps.web.rest.money import KeyOut, MoneyOut, NamedOut, RatioOut
from apps.web.rest.pages import serialize_as


class PartOut(serializers.Serializer[Any]):
    """A part of a row."""

    name = serializers.CharField()
    cost = MoneyOut(allow_null=True, source="cost_micros")


class RowOut(serializers.Serializer[Any]):
    """Of every kind of field."""

    id = serializers.IntegerField()
    team = NamedOut(source="*")
    pool = NamedOut(source="*")
    text = serializers.CharField(source="part.name")
    share = RatioOut()
    part = PartOut()
    parts = PartOut(many=True)
    title = serializers.CharField(source="titled")


@dataclass(frozen=True)
class Row:
    """A frozen value, with a method."""

    id: int
    part: dict[str, Any]
    parts: list[dict[str, Any]]
    share: Fraction | None = Fraction(1, 3)
    team_id: int = 7
    team: str = "Research"
    pool_id: None = None
    pool: str = "h100"

    def titled(self) -> str:
        """Called by the field that it is the source of."""
        return f"row {self.id}"


PARTS = [{"name": "one", "cost_micros": -1}, {"name": 2, "cost_micros": None}]
ROW = Row(5, {"name": "only", "cost_micros": 12_345_678_901}, PARTS)
SERIALIZED: dict[str, Any] = {
    "id": 5,
    "team": {"id": 7, "name": "Research"},
    "pool": None,
    "text": "only",
    "share": 0.333333,
    "part": {"name": "only", "cost": {"amount": "12345.678901", "currency": "EUR"}},
    "parts": [
        {"name": "one", "cost": {"amount": "-0.000001", "currency": "EUR"}},
        {"name": "2", "cost": None},
    ],
    "title": "row 5",
}


def test_a_row_has_its_amounts_in_the_currency_and_its_names_with_their_ids() -> None:
    assert serialize_as(RowOut, ROW, "EUR") == SERIALIZED


def test_what_is_given_beside_a_row_stands_in_the_place_of_its_own() -> None:
    serialized = serialize_as(RowOut, ROW, "EUR", share=None, titled="other", team_id=None)

    assert serialized == SERIALIZED | {"share": None, "title": "other", "team": None}


def test_a_field_that_a_row_lacks_is_a_mistake_that_is_named() -> None:
    with pytest.raises(KeyError, match="name"):
        serialize_as(PartOut, {"cost_micros": 1})


@pytest.mark.parametrize(
    ("micros", "amount"),
    [(0, "0.000000"), (-1, "-0.000001"), (1_000_000, "1.000000"), (-10**21 - 5, "-1000000000000000.000005")],
)  # fmt: skip
def test_amounts_have_every_micro_unit(micros: int, amount: str) -> None:
    money = MoneyOut(context={"currency": "JPY"})

    assert money.to_representation(micros) == {"amount": amount, "currency": "JPY"}
    exact = {"amount": "5", "currency": "USD"}
    assert money.to_representation(exact) == exact


def test_a_member_of_an_enumeration_goes_by_its_name_in_small_letters() -> None:
    class Known:
        """A member of an enumeration."""

        name = "DATA_WAIT"

    assert KeyOut().to_representation(Known()) == "data_wait"
