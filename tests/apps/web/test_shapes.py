"""Bodies and answers that are made from dataclasses."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated

import pytest
from rest_framework.exceptions import ValidationError

from apps.show.entries import Entry, Micros, Milliseconds, Ratio
from apps.web.rest.pages import serialize_as
from apps.web.rest.shapes import Answer, Body


@dataclass(frozen=True, slots=True)
class Bought:
    """Something of a cost, a time and a share."""

    name: str
    billed_micros: Micros
    estimated_micros: Annotated[Micros | None, Entry(help="by the rates")]
    cost: Micros
    gpu_milliseconds: Milliseconds
    used: Ratio | None = None
    prices: Mapping[str, Decimal] = field(default_factory=dict)


class BoughtOut(Answer[Bought]):
    """As it is answered."""


@dataclass(frozen=True, slots=True)
class Entered:
    """What is entered: a currency, and amounts by name."""

    currency: Annotated[str, Entry(pattern="^[A-Z]{3}$", longest=3)]
    prices: Mapping[str, Decimal] = field(default_factory=dict)


class EnteredIn(Body[Entered]):
    """As it is sent."""


def test_money_and_time_are_answered_under_names_without_the_unit_they_are_kept_in() -> None:
    bought = Bought("x", 1_500_000, None, 2_000_000, 5_400_000, 0.25, {"p5": Decimal("49.50")})

    assert serialize_as(BoughtOut, bought, "USD") == {
        "name": "x",
        "billed": {"amount": "1.500000", "currency": "USD"},
        "estimated": None,
        "cost": {"amount": "2.000000", "currency": "USD"},
        "gpu_hours": 1.5,
        "used": 0.25,
        "prices": {"p5": "49.50"},
    }
    assert BoughtOut().fields["estimated"].help_text == "by the rates"


def test_a_body_holds_texts_to_their_pattern_and_parses_amounts_by_name() -> None:
    sent = {"currency": "EUR", "prices": {"p5": "49.50"}}

    assert EnteredIn().run_validation(sent) == Entered("EUR", {"p5": Decimal("49.50")})
    assert EnteredIn().run_validation({"currency": "EUR"}) == Entered("EUR")
    with pytest.raises(ValidationError) as refused:
        EnteredIn().run_validation({"currency": "eur", "prices": {"p5": "free"}})
    assert set(refused.value.detail) == {"currency", "prices"}
