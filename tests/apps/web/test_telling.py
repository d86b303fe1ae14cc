"""Rows are told without DRF's own way of telling, and the same."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest
from rest_framework import serializers

from apps.web.rest.fast_serializers import compile_serializer
from apps.web.rest.money import KeyOut, MoneyOut, RatioOut
from apps.web.rest.pages import serialize_as


class PartOut(serializers.Serializer[Any]):
    """A part of a row."""

    name = serializers.CharField()
    cost = MoneyOut(allow_null=True, source="cost_micros")


class LoudOut(serializers.Serializer[Any]):
    """Tells in a way of its own."""

    name = serializers.CharField()

    def to_representation(self, instance: Any) -> Any:
        """Louder."""
        return {"name": instance["name"].upper()}


class RowOut(serializers.Serializer[Any]):
    """Of every kind of field."""

    id = serializers.IntegerField()
    text = serializers.CharField(source="part.name", allow_null=True)
    share = RatioOut(allow_null=True)
    exact = serializers.FloatField()
    is_open = serializers.BooleanField()
    at = serializers.DateTimeField(allow_null=True)
    words = serializers.ListField(child=serializers.CharField(allow_null=True))
    counts = serializers.DictField(child=serializers.IntegerField())
    part = PartOut(allow_null=True)
    parts = PartOut(many=True)
    loud = LoudOut()
    title = serializers.CharField(source="titled")
    later = serializers.CharField(required=False)
    standard = serializers.CharField(default="as usual")


@dataclass(frozen=True)
class Row:
    """The same as a frozen value, with a method."""

    id: str
    share: Fraction
    exact: int
    is_open: str
    at: None
    words: tuple[str | None, ...]
    counts: dict[str, int]
    part: dict[str, Any] | None
    parts: list[dict[str, Any]]
    loud: dict[str, str]

    def titled(self) -> str:
        """Called by who tells it."""
        return f"row {self.id}"


PARTS = [{"name": "one", "cost_micros": -1}, {"name": 2, "cost_micros": None}]
WHOLE = {
    "id": "7",
    "share": Fraction(1, 3),
    "exact": 2,
    "is_open": "yes",
    "at": None,
    "words": ("a", None),
    "counts": {"b": 3},
    "part": {"name": "only", "cost_micros": 12_345_678_901},
    "parts": PARTS,
    "loud": {"name": "quiet"},
}


def as_drf(thing: Any) -> Any:
    return dict(RowOut(context={"currency": "EUR"}).to_representation(thing))


@pytest.mark.parametrize(
    "thing",
    [
        WHOLE | {"titled": "row"},
        WHOLE | {"titled": lambda: "called", "later": "now", "standard": "other"},
        WHOLE | {"titled": None, "part": None},
        Row(**WHOLE),  # type: ignore[arg-type]  # of every type
        Row(**WHOLE | {"part": None}),  # type: ignore[arg-type]  # the same
    ],
)
def test_a_row_is_told_as_its_serializer_would(thing: Any) -> None:
    assert serialize_as(RowOut, thing, "EUR") == as_drf(thing)


def test_what_a_row_lacks_is_a_mistake_that_is_named() -> None:
    with pytest.raises(KeyError, match="exact"):
        serialize_as(RowOut, {name: value for name, value in WHOLE.items() if name != "exact"})


@pytest.mark.parametrize(
    ("micros", "amount"),
    [(0, "0.000000"), (-1, "-0.000001"), (1_000_000, "1.000000"), (-10**21 - 5, "-1000000000000000.000005")],
)  # fmt: skip
def test_amounts_are_told_to_the_micro_unit(micros: int, amount: str) -> None:
    tell = compile_serializer(MoneyOut(context={"currency": "JPY"}))

    assert tell(micros) == {"amount": amount, "currency": "JPY"}
    assert tell({"amount": "5", "currency": "USD"}) == {"amount": "5", "currency": "USD"}


def test_a_field_of_another_way_is_asked_itself() -> None:
    class Known:
        """A member of an enumeration."""

        name = "DATA_WAIT"

    assert compile_serializer(KeyOut())(Known()) == "data_wait"
