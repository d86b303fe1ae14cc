"""Starting points: where an organisation's GPU work runs today, and what that sets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import path, reverse

from apps.accounts import actions
from apps.accounts.queries import StartingPoint
from apps.console.kit.change import Change, ChangeForm, Done, changing
from apps.console.kit.entries import PickField
from apps.console.kit.frame import Link
from apps.console.kit.page import shown
from apps.console.kit.request import EVERYONE, MANAGES, Context
from apps.review.queries.weekly.review_words import SECTIONS
from apps.review.queries.weekly.shown_sections import sections_left_out
from apps.show.words import joined


@dataclass(frozen=True, slots=True)
class StartingPage:
    """The page that an organisation sees first (`first_page` is the name of an address), and what it is asked to connect.

    `needed` are the keys of the guide's steps that a first dollar takes, in their order; `later` those that come after.
    """

    first_page: str
    first_words: str
    needed: Sequence[str]
    later: Sequence[str]


GPU_STEPS = ("organisation", "jobs", "pool", "nodes", "price", "team", "owner")
EVERYBODY = StartingPage(
    "overview", "Overview", GPU_STEPS, ("agent", "bill", "calls", "history", "budget")
)
PAGES: Mapping[str, StartingPage] = {
    StartingPoint.BUYS_APIS: StartingPage(
        "api-spend",
        "API spend",
        ("organisation", "team", "calls", "budget"),
        ("history", "jobs", "pool", "nodes", "price", "owner", "agent", "bill"),
    ),
    StartingPoint.RENTS_CLOUDS: StartingPage(
        "overview",
        "Overview",
        ("organisation", "pool", "nodes", "price", "bill", "jobs", "team", "owner"),
        ("agent", "budget", "history", "calls"),
    ),
    StartingPoint.OWNS_HARDWARE: StartingPage(
        "fleet",
        "Nodes and GPUs",
        ("organisation", "jobs", "pool", "nodes", "price", "team", "owner", "agent"),
        ("history", "budget", "bill", "calls"),
    ),
}


def starting_page(starting_point: str) -> StartingPage:
    """Return the page that belongs to a starting point; without one, what everybody sees."""
    return PAGES.get(starting_point, EVERYBODY)


class StartingPointForm(ChangeForm):
    """Where GPU work runs today."""

    starting_point = PickField(
        "The organisation",
        {"": "has not said", **dict(StartingPoint.choices)},
        hint="It changes no amount, and can be changed at any time.",
    )


@changing(MANAGES, "setup")
def choose_starting_point(context: Context) -> Change[str]:
    """Says what will be shown first, asked for and left out of reviews, then keeps it."""

    def apply(chosen: str) -> Done:
        actions.set_starting_point(starting_point=chosen)
        return "The starting point is kept.", ("first-day",)

    return Change(
        finding="Where does your GPU work run today?",
        explanation="It sets what is shown first, what the first day asks to connect, and which "
        "sections the weekly review has.",
        back=Link("Back to the first day", reverse("first-day")),
        form=StartingPointForm,
        confirm="Save this starting point",
        read=lambda entered: str(entered["starting_point"] or ""),
        effects=_effects_of,
        apply=apply,
        initial={"starting_point": context.organisation.starting_point},
        look="See what it sets",
    )


def _effects_of(chosen: str) -> Sequence[str]:
    page, out = starting_page(chosen), sections_left_out(chosen)
    named: Mapping[str, Any] = SECTIONS
    left = joined([f"“{named[key]}”" for key in SECTIONS if key in out])
    return (
        f"After signing in, people begin on {page.first_words}.",
        f"The first day asks for {len(page.needed)} steps; {len(page.later)} are for later.",
        f"Weekly reviews made from now on leave out {left}."
        if out
        else "Weekly reviews have all sections.",
        "No amount changes, and every page stays where it is.",
    )


@shown(EVERYONE, "overview")
def home(context: Context) -> HttpResponse:
    """Where people begin after they signed in."""
    return redirect(starting_page(context.organisation.starting_point).first_page)


urlpatterns = [
    path("home", home, name="home"),
    path("setup/starting-point", choose_starting_point, name="starting-point"),
]
