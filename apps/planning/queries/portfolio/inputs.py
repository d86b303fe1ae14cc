"""All that a portfolio is answered from, what of it is not known, and the months that are over beside it."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import Any

from apps.economics.gates import serialize_gates
from apps.economics.hours import HOUR_MS
from apps.economics.portfolio.overlay import CompletedDocument, completed, overlaid
from apps.economics.portfolio.savings import (
    HoursInService,
    PaidCapacity,
    SavingsRate,
    savings_rates,
)
from apps.economics.portfolio.whole import whole_gate
from apps.economics.refusal import Refusal
from apps.planning.queries.history import SeriesHistory, histories
from apps.planning.queries.portfolio.bought import (
    MICROS,
    SOURCES,
    UNUSED,
    BoughtMonths,
    BoughtSum,
)
from apps.planning.queries.portfolio.demand import summed_hours
from apps.planning.queries.portfolio.growth import forecast_gpus
from apps.planning.queries.portfolio.question import LedgerQuestion, ledger_question
from apps.planning.queries.series import GPU_HOURS, POOL, WHOLE, SeriesKey, series_name

ONE_FILE = "its families are of a file: no forecast is of them together"

RENEWED = re.compile(r", again(: .*)?$")
"""The end of a renewal's name as runs that were kept earlier have it."""


@dataclass(frozen=True)
class PortfolioInputs:
    """The ledger's question with what somebody said over it, and the histories that series are read from."""

    ledger: LedgerQuestion
    completed: CompletedDocument
    known: Mapping[SeriesKey, SeriesHistory]

    @property
    def document(self) -> dict[str, Any]:
        """Return the document that is asked."""
        return self.completed.document

    @property
    def notes(self) -> list[str]:
        """Return what was left open or taken from elsewhere, in sentences."""
        grown = [
            f"{table['name']} begins at {growth.starting_gpus:,.1f} GPUs and grows as its forecast by the day does:"
            f" {growth.monthly:+.1%} a month."
            for table in self.document["families"]
            if (growth := self.ledger.growth.get(table["name"]))
            and table["demand"].get("starting_gpus") == growth.starting_gpus
            and table["demand"].get("monthly_growth") == growth.monthly
        ]
        return [*self.ledger.notes, *self.completed.notes, *grown]

    @property
    def digest(self) -> str:
        """SHA-256 of the document and of every history that there is."""
        hashed = hashlib.sha256(json.dumps(self.document, sort_keys=True, default=str).encode())
        for series, history in sorted(self.known.items()):
            hashed.update(f"{series} {history.digest}".encode())
        return hashed.hexdigest()

    @property
    def whole_gpus(self) -> float | str:
        """The GPUs that are forecast of all pools together on the mean of the planned months; else why they stand beside no families."""
        pools = {
            series_name(series)
            for series in self.known
            if (series.measure, series.dimension) == (GPU_HOURS, POOL)
        }
        named = {
            name
            for table in self.document["families"]
            for name in table["demand"].get("series", ())
        }
        if not pools <= named:
            return f"{len(pools - named)} of {len(pools)} pools are in no family, and the forecast of all GPUs is of them too"
        first = date.fromisoformat(self.document["on"])
        gpus_ahead = forecast_gpus(SeriesKey(GPU_HOURS, WHOLE), first, self.document["months"])
        return "all GPUs together have no forecast by the day" if gpus_ahead is None else gpus_ahead

    def hours_of_series(self, names: Sequence[str]) -> list[float | None]:
        """The GPU-hours of series, summed by the hour. Refuses a Refusal."""
        return summed_hours(names, self.known)

    @property
    def in_service(self) -> dict[str, HoursInService]:
        """By family: GPUs in service in the months that are over, and a GPU-hour's price on demand then."""
        hours_by_family = {}
        for name, gpus in self.ledger.bought.in_service.items():
            price = _price_on_demand(self.ledger.bought.of_family(name))
            if price:
                hours_by_family[name] = HoursInService(gpus, price)
        return hours_by_family


def portfolio_inputs(overlay: Mapping[str, Any], at: datetime) -> PortfolioInputs:
    """Return what the installation knows, with the tables of `overlay` over it. Refuses a Refusal."""
    histories_by_series = histories(at)
    return inputs_with(overlay, ledger_question(histories_by_series, at), histories_by_series)


def inputs_with(
    overlay: Mapping[str, Any],
    ledger: LedgerQuestion,
    histories_by_series: Mapping[SeriesKey, SeriesHistory],
) -> PortfolioInputs:
    """The ledger's question with the tables of `overlay` over it. Refuses a Refusal."""
    ours = ledger.document["currency"]
    if overlay.get("currency", ours) != ours:
        message = f"{overlay['currency']!r} is not {ours}, in which the ledger is kept"
        raise Refusal("currency", f"{message}: give every amount in {ours}")
    below = ledger.document if "monthly_growth" in overlay else ledger.growing
    document = completed(overlaid(below, _with_names_of_now(overlay)))
    if not document.document["families"]:
        why = "; ".join(f"{name}: {reason}" for name, reason in document.left_out)
        raise Refusal("families", why or "the ledger has no GPU-hour of a pool yet")
    return PortfolioInputs(ledger, document, histories_by_series)


def with_whole_gate(fields: Mapping[str, Any], inputs: PortfolioInputs | None) -> dict[str, Any]:
    """An answer's fields with its families held against what is forecast of all GPUs; a portfolio of a file alone has no such whole."""
    gpus_forecast = ONE_FILE if inputs is None else inputs.whole_gpus
    gate = whole_gate(fields["wanted_gpus"], gpus_forecast)
    gates = [*fields["gates"], *serialize_gates([gate])]
    return {name: value for name, value in fields.items() if name != "wanted_gpus"} | {
        "gates": gates
    }


def _with_names_of_now(overlay: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an overlay in which renewals have the names that they have now: what was kept before said *…, again*."""
    offers = [
        offer | {"name": RENEWED.sub(lambda end: f" (renewal){end[1] or ''}", offer["name"])}
        if isinstance(offer.get("name"), str)
        else offer
        for offer in overlay.get("offers", ())
    ]
    return {**overlay, "offers": offers} if offers else overlay


def measured_fields(inputs: PortfolioInputs, attainable: Mapping[str, float]) -> dict[str, Any]:
    """The months that are over, what was left open, and where all of it is from, as JSON has it."""
    bought = inputs.ledger.bought
    names = sorted({family for _, family, _ in bought.sums})
    capacity = [_paid_capacity(name, bought.of_family(name)) for name in names]
    shared = _to_major_units(bought.shared_unused_micros)
    total_rate, family_rates = savings_rates(capacity, attainable, shared)
    return {
        "question": inputs.document,
        "digest": inputs.digest,
        "left_out": [{"name": name, "why": why} for name, why in inputs.completed.left_out],
        "notes": inputs.notes,
        "interruptible": [
            {"name": name, "share": share} for name, share in inputs.ledger.tolerant.items()
        ],
        "bought": {
            "months": [month.isoformat() for month in bought.months],
            "refusal": bought.refusal,
            "sources": list(_source_rows(bought)),
            "savings": _savings_fields(total_rate),
            "families": [{"name": name} | _savings_fields(rate) for name, rate in family_rates],
        },
    }


def _source_rows(bought: BoughtMonths) -> list[dict[str, Any]]:
    order = {source: place for place, source in enumerate(SOURCES)}
    keys = sorted(bought.sums, key=lambda key: (key[0], key[1], order.get(key[2], len(order))))
    return [
        {
            "month": month.isoformat(),
            "family": family,
            "bought_as": source,
            "gpu_hours": bought.sums[month, family, source].gpu_ms / HOUR_MS,
            "on_demand": None if source == UNUSED else _to_major_units(bought_sum.list_micros),
            "paid": _to_major_units(bought_sum.paid_micros),
        }
        for month, family, source in keys
        for bought_sum in (bought.sums[month, family, source],)
    ]


def _paid_capacity(name: str, sums: Mapping[str, BoughtSum]) -> PaidCapacity:
    listed = [bought_sum.list_micros for source, bought_sum in sums.items() if source != UNUSED]
    paid = [bought_sum.paid_micros for bought_sum in sums.values()]
    return PaidCapacity(
        name,
        None if None in listed else _to_major_units(sum(filter(None, listed))),
        None if None in paid else _to_major_units(sum(filter(None, paid))),
    )


def _price_on_demand(sums: Mapping[str, BoughtSum]) -> float | None:
    """Of a GPU-hour: as it was paid on demand, else by the list; None: nobody knows."""
    bought = sums.get("on_demand")
    if bought is not None and bought.gpu_ms and bought.paid_micros:
        return bought.paid_micros / MICROS / (bought.gpu_ms / HOUR_MS)
    listed = [
        bought_sum for bought_sum in sums.values() if bought_sum.gpu_ms and bought_sum.list_micros
    ]
    hours = sum(bought_sum.gpu_ms for bought_sum in listed) / HOUR_MS
    return (
        sum(bought_sum.list_micros or 0 for bought_sum in listed) / MICROS / hours
        if hours
        else None
    )


def _savings_fields(rate: SavingsRate) -> dict[str, Any]:
    """Of no family nothing is known."""
    amounts = asdict(rate) if rate.families else dict.fromkeys(("on_demand", "paid", "least"))
    return amounts | {
        "families": list(rate.families),
        "effective_savings_rate": rate.effective,
        "attainable_savings_rate": rate.attainable,
    }


def _to_major_units(micros: int | None) -> float | None:
    return None if micros is None else micros / MICROS
