"""A portfolio's answer as lines for a terminal."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from apps.economics.portfolio.answer import PortfolioAnswer
from apps.economics.portfolio.names import month_after
from apps.economics.portfolio.parts import ComparedChoice
from apps.economics.portfolio.reading import PortfolioRequest
from apps.show.text_columns import aligned_columns

UNKNOWN = "undefined"


def answer_lines(request: PortfolioRequest, answer: PortfolioAnswer) -> Iterator[str]:
    """The answer for people, a section at a time."""
    hours = request.empty.hours
    yield f"{request.name}: {_bought(answer.chosen.lots)}"
    yield (
        f"{request.currency} over {hours:,} hours from {request.on}, {request.scenarios} scenarios;"
        f" optimal among the offers considered, to {answer.gap:.2%}"
    )
    for title, rows in _sections(request, answer):
        yield ""
        yield title
        yield from aligned_columns(rows)


def gate_lines(fields: Mapping[str, Any]) -> Iterator[str]:
    """Yield lines of what the answer was held against, and what its offers rest on."""
    if fields["answered_by"] != "chosen":
        yield f"Answered by {fields['answered_by']}, which cost less on this history"
    for gate in fields["gates"]:
        state = {True: "passed", False: "failed", None: "not known"}[gate["is_passed"]]
        instead = f"; {gate['fallback']}" if gate["fallback"] else ""
        yield f"{gate['name']}: {state}, {gate['says']}{instead}"
    for offer in fields["offers"]:
        if offer["caution"]:
            yield f"{offer['name']}: {offer['caution']}"


def bought_lines(measured: Mapping[str, Any], held_out: Mapping[str, Any]) -> Iterator[str]:
    """Yield lines of what was paid in the months that are over, what choices would have done in the last, what is not known."""
    bought, rows = measured["bought"], [("", "month", "GPU-hours", "on demand", "paid")]
    for row in bought["sources"]:
        amounts = (_money(row["on_demand"]), _money(row["paid"]))
        family = row["family"] or "several"
        about = f"{family}: {row['bought_as'].replace('_', ' ')}"
        rows.append((about, row["month"][:7], f"{row['gpu_hours']:,.0f}", *amounts))
    yield ""
    yield bought["refusal"] or "By what the last months were bought"
    if bought["sources"]:
        yield from aligned_columns(rows)
        rates = bought["savings"]
        yield (
            f"Effective savings rate {_part(rates['effective_savings_rate'])}; attainable"
            f" {_part(rates['attainable_savings_rate'])}"
        )
    yield ""
    yield "Back-test, last 730 h"
    if held_out["refusal"]:
        yield f"  left out: {held_out['refusal']}"
    scored = [
        (
            one["name"],
            _money(one["cost"]),
            _part(one["effective_savings_rate"]),
            _bought(one["lots"]),
        )
        for one in held_out["choices"]
    ]
    if scored:
        yield from aligned_columns([("", "cost", "savings rate", "lots"), *scored])
    for one in measured["left_out"]:
        yield f"Left out: {one['name']}, {one['why']}"
    yield from measured["notes"]


def _sections(
    request: PortfolioRequest, answer: PortfolioAnswer
) -> Iterator[tuple[str, list[Sequence[str]]]]:
    yield "Compared over the same scenarios", _choice_rows(answer)
    if answer.offers:
        yield "Offers", _offer_rows(answer)
    yield "Where GPU-hours come from, mean of the scenarios", _family_rows(answer)
    if answer.ladder:
        yield "When to buy", _ladder_rows(request, answer)
    if answer.changes:
        rows = [(change.name, _bought(change.lots)) for change in answer.changes]
        yield "What would change it", [*rows]


def _choice_rows(answer: PortfolioAnswer) -> list[Sequence[str]]:
    return [
        ("", "mean", "worst tail", "savings rate", "lots"),
        *(_choice_row(choice) for choice in (answer.chosen, *answer.compared)),
    ]


def _choice_row(choice: ComparedChoice) -> Sequence[str]:
    return (
        choice.name,
        _money(choice.mean_cost),
        _money(choice.tail_cost),
        _part(choice.effective_savings_rate),
        _bought(choice.lots),
    )


def _offer_rows(answer: PortfolioAnswer) -> list[Sequence[str]]:
    rows = [
        (
            offer.name,
            f"{offer.lots:,}",
            f"{offer.gpus:,}",
            f"{offer.rate:,.4f}",
            _part(offer.break_even_utilization),
            _money(offer.last_lot),
            _money(offer.one_more_lot),
            UNKNOWN if offer.pays_up_to is None else f"{offer.pays_up_to:,.4f}",
        )
        for offer in answer.offers
    ]
    heads = ("", "lots", "GPUs", "rate", "break-even", "last unit", "next unit", "break-even rate")
    return [heads, *rows]


def _family_rows(answer: PortfolioAnswer) -> list[Sequence[str]]:
    rows = [
        (
            one.name,
            *(
                _part(hours / one.parts.demand_hours if one.parts.demand_hours else None)
                for hours in (
                    one.parts.committed_used_hours,
                    one.parts.spot_hours,
                    one.parts.on_demand_hours,
                    one.parts.short_hours,
                )
            ),
            _part(one.utilization),
            f"{one.gpu_hour_worth:,.4f}",
        )
        for one in answer.families
    ]
    heads = ("", "committed", "spot", "on demand", "blocked", "utilization", "one more GPU an hour")
    return [heads, *rows]


def _ladder_rows(request: PortfolioRequest, answer: PortfolioAnswer) -> list[Sequence[str]]:
    rows = [
        (
            f"{step.family}, {month_after(request.on, step.in_months)}",
            _bought(step.lots),
            f"{step.from_gpus:,.0f} to {step.to_gpus:,.0f}",
            _part(step.break_even_utilization),
            _part(step.expected_utilization),
            _part(step.pays_in),
            _money(step.waiting_cost),
        )
        for step in answer.ladder
    ]
    heads = ("", "buy", "GPUs", "needs", "expected", "pays in", "waiting costs")
    return [heads, *rows]


def _bought(lots: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} × {name}" for name, count in lots.items()) or "buy nothing"


def _money(amount: float | None) -> str:
    return UNKNOWN if amount is None else f"{amount:,.0f}"


def _part(ratio: float | None) -> str:
    return UNKNOWN if ratio is None else f"{ratio:.1%}"
