"""Bodies and answers that are made from dataclasses."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated

import pytest
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.test import APIRequestFactory

from apps.show.entries import Entry, Micros, Milliseconds, Ratio
from apps.web.rest.pages import serialize_as
from apps.web.rest.shapes import Answer, Body, ChangeBody, Filters


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


class ChangedIn(ChangeBody[Entered]):
    """As it is corrected."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for; None: any."""

    kind: Annotated[str | None, Entry(choices=("gpu", "cpu"))] = None
    node_id: int | None = None
    at: Annotated[datetime | None, Entry(help="those that lived then")] = None


class Asked(Filters[Wanted]):
    """As an address asks for it."""


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


def test_a_change_says_what_is_sent_and_nothing_for_what_is_left_out() -> None:
    assert ChangedIn().run_validation({}) == {}
    assert ChangedIn().run_validation({"currency": "EUR"}) == {"currency": "EUR"}
    with pytest.raises(ValidationError) as refused:
        ChangedIn().run_validation({"currency": "eur", "name": "x"})
    assert set(refused.value.detail) == {"currency", "name"}


def test_parameters_ask_by_the_fields_of_what_is_wanted() -> None:
    def wanted(query: str) -> Wanted:
        return Asked.wanted(Request(APIRequestFactory().get(f"/?{query}")))

    assert wanted("") == Wanted()
    assert wanted("kind=gpu&node_id=7&at=2026-03-02T12:00:00Z") == Wanted(
        "gpu", 7, datetime(2026, 3, 2, 12, tzinfo=UTC)
    )
    with pytest.raises(ValidationError) as refused:
        wanted("kind=tpu&node_id=0&at=yesterday&name=x")
    assert set(refused.value.detail) == {"kind", "node_id", "at", "name"}
    assert Asked().fields["at"].help_text == "those that lived then"
