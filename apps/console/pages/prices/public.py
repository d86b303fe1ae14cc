"""The reviewed table of public list prices, taken over after a look at which pools it prices."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from django.urls import reverse

from apps.console.kit.change import Change, ChangeForm, Done, changing
from apps.console.kit.frame import Link
from apps.console.kit.request import Context
from apps.console.pages.prices.changes import ENTERS
from apps.console.pages.setup.questions import recount
from apps.fleet import queries as fleet
from apps.pricing import actions
from apps.pricing.actions.price_table import REVIEWED, PriceTable, read_price_table
from apps.pricing.queries import listing
from apps.show.amounts import counted
from apps.show.time import period
from apps.show.words import joined, option_words


@changing(ENTERS, "prices")
def load_public_prices(context: Context) -> Change[PriceTable]:
    """Says which pools the table prices and which it cannot, then enters its prices."""

    def apply(table: PriceTable) -> Done:
        loaded = actions.load_price_table(
            rows=table.rows, at=context.at, by=context.viewer.person_id
        )
        recount()
        sentence = f"{counted(loaded.imported, 'price')} entered, {loaded.unchanged} known already"
        waits = f"; {loaded.waiting} wait for a decision" if loaded.waiting else ""
        return f"{sentence}{waits}.", ("prices",)

    return Change(
        finding="Take over the public list prices",
        explanation="Each has its source and the date on which it was read; yours beat them.",
        back=Link("Back to prices", reverse("prices")),
        form=ChangeForm,
        confirm="Enter these prices",
        read=_public_table,
        effects=lambda table: _table_effects(table, list(fleet.pools().values())),
        apply=apply,
    )


def _public_table(_: Mapping[str, Any]) -> PriceTable:
    with REVIEWED.open(newline="", encoding="utf-8") as lines:
        return read_price_table(lines, pool_ids={})


def _table_effects(table: PriceTable, pools: Sequence[fleet.PoolFact]) -> tuple[str, ...]:
    rates = [asdict(rate) for _, rate in table.rows]
    providers = sorted({rate["provider"] for rate in rates})
    read_on = [rate["source_date"] for rate in rates if rate["source_date"]]
    sentences = [
        f"{counted(len(rates), 'list price')} of machines of {joined(providers)}, read "
        f"{period(min(read_on), max(read_on) + timedelta(days=1))}."
    ]
    priced = {pool.name for pool in pools if any(listing.may_price(rate, pool) for rate in rates)}
    if priced:
        sentences.append(f"It prices {joined(sorted(priced))}.")
    sentences += [
        f"It has no price of {pool.name} ({pool.provider}, "
        f"{option_words(pool.purchase_option).lower()}): that pool needs a price of its own, or a "
        "plan of owned hardware."
        for pool in pools
        if pool.name not in priced
    ]
    return tuple(sentences)
