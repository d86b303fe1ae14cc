"""One bill reconciled: its variance, the charges not tied to a node, the nodes not on it."""

from collections.abc import Mapping
from urllib.parse import urlencode

from django.urls import path, reverse
from django.utils.html import format_html

from apps.console.kit.cells import COUNT, FIGURE, MONEY, PROSE
from apps.console.kit.frame import Link
from apps.console.kit.page import ConsolePage, Include, shown
from apps.console.kit.request import SEES_EVERYTHING, Context, value_or_404
from apps.console.kit.table import Table
from apps.console.pages.bill_rules.words import pattern_of
from apps.economics.billing import NO_RESOURCE
from apps.ledger.queries.bills import comparing
from apps.ledger.queries.bills.deliveries import BillFact, bill_fact
from apps.ledger.queries.bills.rules import unmatched_usage_types
from apps.ledger.queries.bills.twins import twins_of_bill
from apps.ledger.queries.closes.shares import shares_in_words, shares_of_invoices
from apps.show.amounts import counted
from apps.show.money import bridged, full_amount, signed_amount
from apps.show.time import instant
from apps.tables.column import CURRENCY_COLUMN, Column

MOST_SHOWN = 500
MAPPED = ("unmatched", "service")
"""What a rule can bring to a node, a pool, or a team."""
VarianceRow = tuple[str, str, str]
"""A part of the difference, its amount as it is shown, and what it is made of."""


@shown(SEES_EVERYTHING, "bills")
def bill(context: Context, bill_id: int) -> ConsolePage:
    """The bill beside the estimate."""
    issued_bill, currency = _bill_of(bill_id), context.currency
    variance = comparing.variance_of(bill_id)
    parts, apart = _variance_parts(variance, currency), comparing.unreconciled_sums(bill_id)
    usage_types = unmatched_usage_types(bill_id)
    twins = [
        (twin, context.onward(reverse("bill", args=[twin.beside.id])))
        for twin in twins_of_bill(bill_id)
    ]
    rows: list[VarianceRow] = [
        ("Estimated", full_amount(variance.estimated_micros, currency),
         "rate × uptime, for the nodes of this bill"),
        *((name, signed_amount(micros, currency), words) for name, micros, words in parts),
    ]  # fmt: skip
    return ConsolePage(
        context=context,
        finding=_title_sentence(issued_bill, parts, variance, currency),
        under=_quiet_words(issued_bill, variance, context),
        back=Link("Bills", reverse("bills")),
        sections=(
            Include("reconciliation/twins.html", twins) if twins else None,
            Include("reconciliation/unread.html", issued_bill.unread)
            if issued_bill.unread
            else None,
            VARIANCE.section(
                rows, context, total=("Billed", full_amount(variance.billed_micros, currency), "")
            ),
            _apart_table(issued_bill, usage_types).section(
                apart, context, csv_name=f"bill {bill_id} beside nodes"
            ),
            UNBILLED.section(
                variance.unbilled[:MOST_SHOWN],
                context,
                csv_name=f"bill {bill_id} unbilled nodes",
                csv_rows=lambda: comparing.unbilled_so_far(issued_bill),
            ),
        ),
    )


def _bill_of(bill_id: int) -> BillFact:
    return value_or_404(bill_fact(bill_id))


def _quiet_words(
    issued_bill: BillFact, variance: comparing.Variance, context: Context
) -> tuple[str, ...]:
    notes = [
        f"effective cost, in {context.currency}",
        f"{counted(issued_bill.sums.rows, 'row')}, billed in {issued_bill.currency}",
    ]
    if issued_bill.reconciled_at:
        notes.append(f"reconciled {instant(issued_bill.reconciled_at, context.zone)}")
    if variance.billed_until:
        until = instant(variance.billed_until, context.zone)
        notes.append(f"billed up to {until} so far: later hours are not compared")
    if shares := shares_of_invoices([issued_bill.id]):
        notes.append(f"its invoice stands in: {shares_in_words(shares, context.currency)}")
    if issued_bill.residual is not None:
        # With all its digits and no more.
        left = (
            f"{issued_bill.residual.normalize():f} {issued_bill.currency}"
            if issued_bill.residual
            else "nothing"
        )
        notes.append(f"rounding to micro-units leaves {left}")
    if issued_bill.is_rounded_upstream:
        notes.append("its effective cost was rounded upstream, so the estimate stands")
    return tuple(notes)


def _map_cell(
    apart_sum: comparing.ApartSum, issued_bill: BillFact, usage_types: Mapping[str, str]
) -> str:
    """The form of a rule that fits these rows, with what it says left open."""
    if apart_sum.charge_kind not in MAPPED or not apart_sum.label:
        return ""
    name = "service"
    if apart_sum.charge_kind == "unmatched":
        name = "resource_id" if apart_sum.reason != NO_RESOURCE else "service"
        name = "usage_type" if name == "service" and apart_sum.label in usage_types else name
    params = {name: pattern_of(apart_sum.label), "issuer": pattern_of(issued_bill.issuer)}
    href = f"{reverse('add-bill-rule')}?{urlencode(params)}"
    return format_html('<a href="{}" aria-label="Map {}">Map it</a>', href, apart_sum.label)


def _title_sentence(
    issued_bill: BillFact,
    parts: list[tuple[str, int, str]],
    variance: comparing.Variance,
    currency: str,
) -> str:
    name = f"{issued_bill.issuer}, {issued_bill.starts_at:%B %Y}"
    if issued_bill.failure:
        return f"{name} waits: {issued_bill.failure}."
    if issued_bill.reconciled_at is None:
        return f"{name} is being reconciled."
    difference = sum(micros for _, micros, _ in parts)
    if not difference:
        return f"{name} is what was estimated: {full_amount(variance.billed_micros, currency)}."
    return f"{name} differs from the estimate by {signed_amount(difference, currency)}."


def _variance_parts(of: comparing.Variance, currency: str) -> list[tuple[str, int, str]]:
    """As they are shown, they lead from the estimate that is shown to what was billed."""
    exact = (
        ("Price", of.price_micros, "the machine time that was estimated, at another price"),
        ("Quantity", of.quantity_micros, "more or less machine time, at the estimated price"),
        ("Missing", of.missing_micros, "estimated and not billed (below 0), or the reverse"),
        ("Unmatched", of.unmatched_micros, "compute of no node on record: charged to Platform"),
        ("Non-compute charges", of.shared_micros, "disks, network, licences, taxes, credits"),
    )
    amounts = [micros for _, micros, _ in exact]
    drawn = bridged(of.estimated_micros, amounts, of.billed_micros, currency)
    return [(name, micros, words) for (name, _, words), micros in zip(exact, drawn, strict=True)]


def _apart_table(
    issued_bill: BillFact, usage_types: Mapping[str, str]
) -> Table[comparing.ApartSum]:
    return Table(
        name="apart",
        title="Charges not tied to a node",
        about="charged separately, in the totals",
        empty="Not known before the bill is reconciled."
        if issued_bill.reconciled_at is None
        else "None: every row is tied to a node.",
        csv_first=("charge_kind", "kind", "reason", "what", "team"),
        columns=(
            Column("kind", "What", lambda row: row.kind),
            Column("what", "Of", lambda row: row.label, PROSE, shown=lambda row, _: row.label or "–"),
            Column("reason", "Why", lambda row: row.reason, PROSE),
            Column("team", "Charged to", lambda row: row.team_name),
            Column("rows", "Rows", lambda row: row.rows, COUNT),
            Column("effective", "Effective cost", lambda row: row.effective_micros, MONEY),
            Column(
                "rule", "Rule", lambda _: "", csv="",
                shown=lambda row, _: _map_cell(row, issued_bill, usage_types),
            ),
            Column("charge_kind", "", lambda row: row.charge_kind),
            Column("billed", "", lambda row: row.billed_micros, MONEY),
            CURRENCY_COLUMN,
        ),
    )  # fmt: skip


VARIANCE: Table[VarianceRow] = Table(
    name="causes",
    title="Variance by cause",
    about="the causes add up to the variance",
    columns=(
        Column("cause", "Cause", lambda row: row[0]),
        Column("difference", "Difference", lambda row: row[1], FIGURE),
        Column("what", "What it is", lambda row: row[2], PROSE),
    ),
)
UNBILLED: Table[comparing.UnbilledNode] = Table(
    name="unbilled",
    title="Nodes not on the bill",
    about="estimated in its period, of the same provider and region",
    empty="None: every hour of theirs that was estimated is billed.",
    columns=(
        Column(
            "node", "Node", lambda row: row.node_name,
            href=lambda row: reverse("node", args=[row.node_id]),
        ),
        Column("pool", "Pool", lambda row: row.pool_name),
        Column("hours", "Hours", lambda row: row.hours, COUNT),
        Column("estimated", "Estimated", lambda row: row.estimated_micros, MONEY),
        CURRENCY_COLUMN,
    ),
)  # fmt: skip

urlpatterns = [
    path("bills/<int:bill_id>", bill, name="bill"),
]
