"""A catalog of SkyPilot with effective rates in the place of list prices, so that its optimizer goes by them."""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from apps.economics.purchase import PurchaseOption
from apps.economics.refusal import Refusal
from apps.placement.queries.book import BookFact
from apps.placement.queries.offer_facts import OfferFact, machine_dollars

MACHINE, ACCELERATOR, REGION = "InstanceType", "AcceleratorName", "Region"
PRICE, SPOT_PRICE = "Price", "SpotPrice"
NEEDED = (MACHINE, ACCELERATOR, REGION, PRICE, SPOT_PRICE)


class SkyCatalogNotUnderstood(Refusal):
    """A refusal that says what is wrong with a catalog, or keeps prices from being told in US dollars."""


@dataclass(frozen=True, slots=True)
class MachinePrices:
    """US dollars for an hour of a machine, each the lowest of its offers; None: not known."""

    on_demand: Decimal | None
    spot: Decimal | None


@dataclass(slots=True)
class SkyCatalog:
    """A catalog as CSV, how many rows of machines with GPUs were priced, and in words which were not."""

    text: str = ""
    priced: int = 0
    left_out: list[str] = field(default_factory=list)


def machine_prices(book: BookFact, cloud: str) -> dict[tuple[str, str], MachinePrices]:
    """By machine type and region of a cloud, what a whole machine more costs now. Refuses SkyCatalogNotUnderstood.

    Idle reserved machines and commitments cost nothing more (docs/guides/placement.md); those without an idle machine are no offer.
    """
    if book.per_dollar is None:
        raise SkyCatalogNotUnderstood(
            "", "nobody knows what a US dollar is worth: SkyPilot reckons in dollars"
        )
    prices_by_place: dict[tuple[str, str], MachinePrices] = {}
    for offer in book.offers.values():
        dollars = _dollars_an_hour(offer, book.per_dollar)
        if offer.provider != cloud or dollars is None or not (offer.instance_type and offer.region):
            continue
        place = offer.instance_type, offer.region
        current = prices_by_place.get(place, MachinePrices(None, None))
        if offer.option == PurchaseOption.SPOT:
            prices_by_place[place] = MachinePrices(
                current.on_demand, _lower_price(current.spot, dollars)
            )
        else:
            prices_by_place[place] = MachinePrices(
                _lower_price(current.on_demand, dollars), current.spot
            )
    return prices_by_place


def priced_catalog(
    base: str, prices: Mapping[tuple[str, str], MachinePrices], *, keeps_others: bool
) -> SkyCatalog:
    """SkyPilot's own catalog of a cloud with these prices: rows without GPUs as they are; refuses SkyCatalogNotUnderstood.

    A machine with GPUs without a known price other than on spot is left out, or kept at its list price where `keeps_others`.
    """
    rows = csv.DictReader(io.StringIO(base))
    columns = rows.fieldnames or []
    missing = [name for name in NEEDED if name not in columns]
    if missing:
        raise SkyCatalogNotUnderstood("", f"no catalog of SkyPilot: {', '.join(missing)} missing")
    catalog, out = SkyCatalog(), io.StringIO()
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    unpriced: dict[str, None] = {}
    for row in rows:
        if not row[ACCELERATOR]:
            writer.writerow(row)
            continue
        if not row[MACHINE]:
            raise SkyCatalogNotUnderstood(
                "",
                "it prices hosts and accelerators apart, as Google's does: no rate is of one of them",
            )
        machine_price = prices.get((row[MACHINE], row[REGION]))
        if machine_price is None or machine_price.on_demand is None:
            unpriced[f"{row[MACHINE]} in {row[REGION]}"] = None
            if keeps_others:
                writer.writerow(row)
            continue
        spot = "" if machine_price.spot is None else f"{machine_price.spot:f}"
        writer.writerow({**row, PRICE: f"{machine_price.on_demand:f}", SPOT_PRICE: spot})
        catalog.priced += 1
    catalog.text, catalog.left_out = out.getvalue(), list(unpriced)
    return catalog


def _dollars_an_hour(offer: OfferFact, per_dollar: Decimal) -> Decimal | None:
    if offer.micros is None:
        return None
    if offer.free_gpus is not None and offer.free_gpus < offer.gpus_per_node:
        return None
    return machine_dollars(offer.micros, offer.gpus_per_node, per_dollar)


def _lower_price(lowest: Decimal | None, price: Decimal) -> Decimal:
    return price if lowest is None else min(lowest, price)
