"""Steps of the first day that GPUs take no part in, and which steps a starting point wants now."""

from dataclasses import replace

from django.urls import reverse

from apps.console.kit.frame import Link, Step
from apps.console.pages.setup.guide_steps import (
    DONE,
    LATER,
    MISSING,
    WAITING,
    GuideStep,
    SetupFacts,
)
from apps.show.amounts import counted
from apps.show.words import joined


def wanted_now(step: GuideStep) -> GuideStep:
    """The step where a first dollar needs it: what could wait is to be done."""
    return replace(step, state=MISSING) if step.state == LATER else step


def wanted_later(step: GuideStep) -> GuideStep:
    """The step where a first dollar does not need it."""
    return replace(step, state=LATER) if step.state == MISSING else step


def calls_step(facts: SetupFacts) -> GuideStep:
    """Calls to model APIs, which gateways, programs or collectors report."""
    state, finding = LATER, "No call to a model API is reported, so what they cost is not known."
    if facts.told.vendors:
        state, finding = DONE, f"Calls of {joined(list(facts.told.vendors))} are reported."
    elif facts.tokens.get("usage"):
        state, finding = WAITING, "A token for usage is out; no call has come yet."
    return GuideStep(
        "calls",
        "Report calls to model APIs",
        state,
        finding,
        (
            Step(
                "Create a token of scope “usage”, of a team or of the organisation.",
                link=Link("Tokens", reverse("tokens")),
            ),
            Step(
                "A gateway (LiteLLM), an OpenTelemetry collector or the program itself sends each "
                "call with it; its price is known by model and day. docs/guides/api-spend.md has each way.",
                f"{facts.server}/api/v1/usage-events",
            ),
            Step(
                "Prices of your own contract beat the public ones.",
                link=Link("Prices of API models", reverse("prices")),
            ),
        )
        if facts.may_make
        else (),
        Link("API spend", reverse("api-spend")),
    )


def budget_step(facts: SetupFacts) -> GuideStep:
    """A budget, which warns before it is exceeded."""
    finding = "No budget is on record, so nothing warns in time."
    if facts.planned.budgets:
        finding = f"{counted(facts.planned.budgets, 'budget is', 'budgets are')} on record."
    return GuideStep(
        "budget",
        "Add a budget",
        DONE if facts.planned.budgets else LATER,
        finding,
        (Step("Its team is warned at 50, 75, 90 and 100 %, and when it will be exceeded."),),
        Link("Budgets", reverse("budgets")),
    )


def history_step(facts: SetupFacts) -> GuideStep:
    """A history from before, so that forecasts begin with it."""
    finding = "Forecasts begin with what is reported from now on."
    if facts.planned.histories:
        finding = (
            f"{counted(facts.planned.histories, 'series has', 'series have')} an imported history."
        )
    return GuideStep(
        "history",
        "Import a series",
        DONE if facts.planned.histories else LATER,
        finding,
        (
            Step(
                "A CSV or Parquet file with one row an hour or a day: GPU-hours, spend, requests or tokens. Its hours and "
                "what stays unknown are shown first; nothing is imported before you say so."
            ),
        ),
        Link("Import a series", reverse("series-imports")),
    )
