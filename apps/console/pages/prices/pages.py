"""The list of prices, one rate with its history, and what finance decides about those that wait."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.urls import path, reverse
from django.utils.html import format_html, format_html_join

from apps.accounts import actions as accounts
from apps.accounts.queries import person_names
from apps.console.kit.cells import INSTANT, linked
from apps.console.kit.change import Act, ChangeForm, Done, acting
from apps.console.kit.csv_file import CsvFile
from apps.console.kit.entries import NonNegativeIntegerField
from apps.console.kit.filters import filter_of
from apps.console.kit.form import FormSection
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.page import ConsolePage, FactList, files_page, shown
from apps.console.kit.request import SEES_EVERYTHING, Context
from apps.console.pages.pool_links import pool_href
from apps.console.pages.prices import changes, deciding, public
from apps.console.pages.prices.deciding import (
    DECIDES,
    entered_facts,
    moment_by,
    quoted_words,
    rate_or_404,
)
from apps.console.pages.prices.picture import price_chart
from apps.console.pages.prices.tables import (
    HISTORY,
    LOOKED_BACK,
    OPEN_ENDED,
    PAID,
    PAST,
    RATES,
    UNPRICED,
    WAITING,
    ListedRate,
    PaidPool,
    Rate,
    UnpricedUse,
    WaitingRate,
    what_it_prices,
)
from apps.fleet import queries as fleet
from apps.ledger import queries as ledger
from apps.pricing import queries as pricing
from apps.pricing.queries import listing
from apps.pricing.queries.comparable_prices import neighbours_of
from apps.pricing.queries.deciding import WAITS, rates_waiting
from apps.pricing.queries.owned import pools_owned
from apps.show.amounts import counted, gpu_hours
from apps.show.money import quoted_amount

MOMENT = timedelta(microseconds=1)
SHOWS = {"": "In force or to come", "all": "With ended ones"}
EMPTY = EmptyState(
    title="Nothing has a price yet",
    sentence="Rates with their source and validity are listed here, and GPU time that nobody said "
    "the price of. Such time is never counted as free.",
    steps=(
        Step(
            "A price is of a pool, or of all machines of a description.",
            link=Link("Enter a price", "/prices/new"),
        ),
        Step(
            "A reviewed table of public list prices comes along, each with source and date.",
            link=Link("Look at it", "/prices/public"),
        ),
    ),
)


class ApprovalForm(ChangeForm):
    """By how much a price may move before a second person is asked."""

    per_cent = NonNegativeIntegerField(
        "A second person is asked where a price moves by more than (per cent)",
        "empty: nobody is asked, however much it moves",
        example="20",
    )


@shown(SEES_EVERYTHING, "prices")
def prices(context: Context) -> ConsolePage:
    """Show which prices wait, what has no price, what is paid, and every rate."""
    return _prices_page(context)


@acting(DECIDES, "prices")
def set_approval(context: Context) -> Act:
    """By how much a price may move before a second person is asked; empty: as much as it likes."""

    def apply(entered: Mapping[str, Any]) -> Done:
        accounts.set_price_approval(per_cent=entered["per_cent"])
        phrase = "wait no longer, however much they move,"
        if entered["per_cent"] is not None:
            phrase = f"by more than {entered['per_cent']} % wait"
        return f"Prices that move {phrase} for a second person.", ("prices",)

    return Act(
        form=ApprovalForm(context.sent, context, is_sent=True),
        apply=apply,
        page=lambda form: _prices_page(replace(context, path=reverse("prices")), form),
    )


def _prices_page(context: Context, sent: ChangeForm | None = None) -> ConsolePage:
    waiting_csv, unpriced_csv, paid_csv, rates_csv = files = _files_of(context)
    if context.csv_table is not None:
        return files_page(context, *files, main=RATES.name)
    show, rates = context.query.get("show", ""), listing.all_rates()
    paid, unpriced = _paid_pools(rates, context), _unpriced_use(context)
    waiting = _waiting_rates(context)
    which = "ended ones too" if show == "all" else "in force or to come"
    enter = Link("Enter a price", reverse("add-rate"))
    may_decide = context.viewer.role in DECIDES
    return ConsolePage(
        context=context,
        finding=_prices_finding(paid, unpriced, len(waiting)),
        under=(f"Amounts as quoted, in {context.currency}, which is fixed for the organisation.",),
        filters=(filter_of("show", "Rates", SHOWS, {"show": show}),),
        problems=() if show in SHOWS else (f"Prices cannot be chosen by {show[:40]!r}.",),
        actions=(enter, Link("Public list prices", reverse("public-prices"))),
        sections=(
            WAITING.section(
                waiting,
                context,
                csv=waiting_csv,
                remark="" if may_decide else _approval_words(context),
            ),
            _approval_section(context, sent) if may_decide else None,
            UNPRICED.section(unpriced, context, csv=unpriced_csv),
            PAID.section(paid, context, csv=paid_csv),
            RATES.section(
                _shown_rates(rates, context),
                context,
                about=f"as they were entered, {which}: {{said}}",
                empty=format_html(
                    'None is in force. <a href="{}?show=all#rates">Show ended ones too</a>',
                    reverse("prices"),
                ),
                csv=rates_csv,
            ),
        ),
        empty=None if rates or fleet.pools() else EMPTY,
    )


def _files_of(context: Context) -> tuple[CsvFile, CsvFile, CsvFile, CsvFile]:
    """Prices that wait, GPU time of the last ninety days without one, what pools pay, and rates as the address asks for them."""
    return (
        WAITING.file("prices that wait", context, lambda: _waiting_rates(context)),
        UNPRICED.file("unpriced use", context, lambda: _unpriced_use(context)),
        PAID.file("prices of pools", context, lambda: _paid_pools(listing.all_rates(), context)),
        RATES.file("rates", context, lambda: _shown_rates(listing.all_rates(), context)),
    )


@shown(SEES_EVERYTHING, "prices")
def rate(context: Context, rate_id: int) -> ConsolePage:
    """One rate, the pools that it can price, and the history of the price of the same thing."""
    rate = rate_or_404(rate_id)
    state = rate["standing"]
    is_over = rate["ends_at"] is not None and rate["ends_at"] <= context.at
    may_end = state == "in_force" and not is_over
    decide = Link("Decide about it", reverse("decide-rate", args=[rate_id]))
    end = Link("End this price", reverse("end-rate", args=[rate_id]))
    return ConsolePage(
        context=context,
        finding=f"{quoted_words(rate)} for {what_it_prices(rate)}",
        back=Link("Prices", reverse("prices")),
        actions=(*((decide,) if state in WAITS else ()), *((end,) if may_end else ())),
        sections=(
            FactList(_rate_facts(rate, context)),
            price_chart(rate, context),
            HISTORY.section(
                _rate_history(rate, context),
                context,
                csv_name=f"history of rate {rate_id}",
            ),
        ),
    )


def _approval_section(context: Context, sent: ChangeForm | None) -> FormSection:
    approval = context.organisation.price_approval_per_cent
    form = ApprovalForm.opened(sent, context, initial={"per_cent": approval})
    return form.section(
        "approval",
        reverse("set-price-approval"),
        "Save",
        title="Approval by a second person",
    )


def _approval_words(context: Context) -> str:
    approval = context.organisation.price_approval_per_cent
    if approval is None:
        return "No second person is asked, however much a price moves."
    return f"A second person is asked where a price moves by more than {approval} %."


def _shown_rates(rates: Sequence[Rate], context: Context) -> list[ListedRate]:
    rows = [ListedRate(rate, context.at) for rate in rates]
    is_all = context.query.get("show") == "all"
    return [row for row in rows if is_all or row.standing not in PAST]


def _rate_history(rate: Rate, context: Context) -> list[ListedRate]:
    """Every rate of the same kind for the same thing, the newest first."""
    return [
        ListedRate(past_rate, context.at) for past_rate in listing.rates_of_target(rate["target"])
    ]


def _waiting_rates(context: Context) -> list[WaitingRate]:
    """Every price that waits, the oldest first, with some of its neighbours."""
    rates = rates_waiting()
    names = person_names() if rates else {}
    neighbours = neighbours_of(rates)
    may_decide = context.viewer.role in DECIDES
    return [
        WaitingRate(
            ListedRate(rate, context.at),
            names.get(rate["entered_by_id"], ""),
            neighbours[rate["id"]],
            may_decide,
        )
        for rate in rates
    ]


def _paid_pools(rates: Sequence[Rate], context: Context) -> list[PaidPool]:
    """Return what each pool pays at this moment, but those that a plan prices; without a price first."""
    owned, by_id = pools_owned(context.at), {rate["id"]: rate for rate in rates}
    pools = {pool.id: pool for pool in fleet.pools().values() if pool.id not in owned}
    spans = pricing.pool_rates(pools, context.at, context.at + MOMENT)
    rows = []
    for pool in pools.values():
        span = spans[pool.id][0]
        paid = by_id.get(span.paid_rate.id) if span.paid_rate else None
        listed = by_id.get(span.list_rate.id) if span.list_rate else None
        rows.append(PaidPool(pool, paid, listed))
    return sorted(rows, key=lambda row: (row.paid is not None, row.pool.name.casefold()))


def _unpriced_use(context: Context) -> list[UnpricedUse]:
    """Pools with GPU time of the last ninety days that no rate covers."""
    unpriced = ledger.unpriced_pools(ledger.window_of(LOOKED_BACK, context.calendar))
    return [UnpricedUse(unpriced_pool) for unpriced_pool in unpriced]


def _rate_facts(rate: Rate, context: Context) -> list[tuple[str, str]]:
    """Everything that is known of a rate, in words."""
    ends_at, names = rate["ends_at"], person_names()
    kind, valid_from, (_, source), entered = entered_facts(rate, names, context)
    if rate["source_date"]:
        source = format_html("{}, read on {}", source, f"{rate['source_date']:%-d %B %Y}")
    decided = "Rejected" if rate["standing"] == "refused" else "Accepted"
    at, by = rate["decided_at"], names.get(rate["decided_by_id"], "")
    reached = [pool.name for pool in fleet.pools().values() if listing.may_price(rate, pool)]
    hrefs = {name: context.onward(pool_href(name)) for name in reached}
    links = format_html_join(", ", "{}", ((linked(*item),) for item in hrefs.items()))
    facts = [
        ("Rate status", ListedRate(rate, context.at).standing),
        kind,
        ("Volume tiers in a month", _tiers_in_words(rate)),
        valid_from,
        ("Until", INSTANT.shown(ends_at, context.locale) if ends_at else OPEN_ENDED),
        ("Source", source),
        entered,
        ("Why it waited", rate["doubt"]),
        (decided, moment_by(at, by, context) if at else ""),
        ("Pools like this", links or "none yet"),
    ]
    return [(name, text) for name, text in facts if text]


def _tiers_in_words(rate: Rate) -> str:
    """`8.00 beyond 1,000 node-hours of a month, 7.00 beyond 5,000`; empty: one price for all."""
    unit = "GPU-hours" if rate["unit"] == "gpu" else "node-hours"
    tier_texts = [
        f"{quoted_amount(Decimal(amount), rate['currency'])} beyond {Decimal(beyond):,f}"
        for beyond, amount in rate["tiers"]
    ]
    if tier_texts:
        tier_texts[0] = f"{tier_texts[0]} {unit} of a month"
    return ", ".join(tier_texts)


def _prices_finding(paid: Sequence[PaidPool], unpriced: Sequence[UnpricedUse], waiting: int) -> str:
    """Return how many prices wait, which pools have no price, and how much time is unpriced."""
    if not paid:
        sentence = "There are no pools to price yet"
    elif without := sum(row.paid is None for row in paid):
        sentence = f"{counted(without, 'pool has', 'pools have')} no price now"
    else:
        sentence = "Every pool has a price" if len(paid) > 1 else "The pool has a price"
    time = sum(row.fact.unit_milliseconds for row in unpriced)
    if paid and time:
        sentence += f"; {gpu_hours(time)} GPU-hours of the last 90 days are unpriced"
    if not waiting:
        return f"{sentence}."
    verb = "waits" if waiting == 1 else "wait"
    return f"{counted(waiting, 'price')} {verb} for a decision. {sentence}."


urlpatterns = [
    path("prices", prices, name="prices"),
    path("prices/approval", set_approval, name="set-price-approval"),
    path("prices/public", public.load_public_prices, name="public-prices"),
    path("prices/new", changes.add_rate, name="add-rate"),
    path("prices/<int:rate_id>", rate, name="rate"),
    path("prices/<int:rate_id>/end", changes.end_rate, name="end-rate"),
    path("prices/<int:waiting_id>/decide", deciding.decide, name="decide-rate"),
    path("prices/<int:waiting_id>/accept", deciding.accept, name="accept-rate"),
    path("prices/<int:waiting_id>/refuse", deciding.refuse, name="refuse-rate"),
]
