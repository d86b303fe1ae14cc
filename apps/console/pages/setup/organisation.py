"""The organisation: its name, currency, zone and first weekday, chosen once in the browser."""

from collections.abc import Mapping
from typing import Any

from django.urls import path, reverse

from apps.accounts import actions
from apps.accounts.queries import is_organisation_chosen, supported_zones
from apps.console.kit.change import Change, ChangeForm, Done, changing
from apps.console.kit.entries import PickField, TextField
from apps.console.kit.frame import EmptyState, Link
from apps.console.kit.request import MANAGES, Context
from apps.economics.currencies import CURRENCIES
from apps.economics.refusal import Refusal
from apps.pricing.queries import rests_on_organisation

WEEKDAYS = {
    "1": "Monday", "2": "Tuesday", "3": "Wednesday", "4": "Thursday", "5": "Friday",
    "6": "Saturday", "7": "Sunday",
}  # fmt: skip


class OrganisationForm(ChangeForm):
    """Form of the organisation: what everything that is charged rests on."""

    name = TextField("Name", needed="Give it a name.")
    currency = PickField("Currency", hint="Every amount is in it.")
    zone = PickField("Time zone", hint="Days and months begin at its midnight.")
    week_starts_on = PickField("Weeks begin on", WEEKDAYS)


def is_organisation_fixed() -> bool:
    """Whether currency and zone were chosen, or something on record rests on them."""
    return is_organisation_chosen() or rests_on_organisation()


@changing(MANAGES, "setup")
def choose_organisation(context: Context) -> Change[actions.Bootstrap]:
    """Says what cannot be changed afterwards, then keeps it."""
    present = context.organisation

    def read(entered: Mapping[str, Any]) -> actions.Bootstrap:
        if is_organisation_fixed():
            raise actions.AlreadyBootstrapped("the organisation is chosen and kept for good")
        week_starts_on = int(entered["week_starts_on"])
        return actions.Bootstrap(**{**entered, "week_starts_on": week_starts_on})

    def apply(chosen: actions.Bootstrap) -> Done:
        actions.choose_organisation(
            organisation=chosen, at=context.at, is_rested_on=rests_on_organisation
        )
        return f"{chosen.name} keeps its books in {chosen.currency}.", ("first-day",)

    summary = f"{present.name}: {present.currency}, {present.zone}. They are kept for good."
    return Change(
        finding="Which organisation is this?",
        explanation="Chosen once, before there is a node or a price.",
        back=Link("Back to the first day", reverse("first-day")),
        form=OrganisationForm,
        confirm="Save this for good",
        read=read,
        effects=lambda chosen: (
            f"Every amount of {chosen.name} is in {chosen.currency}.",
            f"Days and months begin at midnight of {chosen.zone}, weeks on "
            f"{WEEKDAYS[str(chosen.week_starts_on)]}.",
            "This cannot be changed afterwards.",
        ),
        apply=apply,
        refusals=(Refusal, actions.AlreadyBootstrapped),
        picks={
            "currency": {code: code for code in sorted(CURRENCIES)},
            "zone": {zone: zone for zone in sorted(supported_zones())},
        },
        initial={
            "name": "" if present.name == actions.DEFAULTS.name else present.name,
            "currency": present.currency,
            "zone": present.zone,
            "week_starts_on": str(present.week_starts_on),
        },
        look="See what is kept",
        empty=EmptyState("The organisation is chosen", summary)
        if is_organisation_fixed()
        else None,
    )


urlpatterns = [path("setup/organisation", choose_organisation, name="organisation")]
