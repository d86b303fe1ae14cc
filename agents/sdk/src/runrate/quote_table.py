"""A quote as text: a table where the terminal is wide, a block for each offer where it is narrow."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Optional, Union

from runrate.answers import (
    Admission,
    AdmissionLimit,
    BudgetAfter,
    BudgetLeft,
    InterruptionEvidence,
    Money,
    Outcome,
    Quote,
    QuotedOffer,
)

UNKNOWN = "unknown"
NONE = "-"
STANDINGS = {
    "meets": "in time",
    "finish_unknown": "finish unknown",
    "late": "late",
    "cost_unknown": "cost unknown",
}
OPTIONS = {"on_demand": "on demand"}
HEADS = ("#", "offer", "kind", "place", "cost", "range", "done in", "chance", "standing")
RIGHT = frozenset({"#", "cost", "range", "done in", "chance"})
GAP = "  "
INDENT = "   "
LEAST_WIDTH = 40


def quote_text(quote: Quote, width: int) -> str:
    """All of it in lines of at most `width` columns, where words allow; what is not known says why."""
    width = max(LEAST_WIDTH, width)
    lines = [*_head(quote, width), ""]
    if not quote.offers:
        lines += ["No offer can take this job.", ""]
    rows = [_cells(place, offer, quote) for place, offer in enumerate(quote.offers, 1)]
    if rows:
        table = _table(quote, rows)
        wide = max(map(display_width, table)) <= width
        if wide:
            lines += [*table, ""]
        for cells, offer in zip(rows, quote.offers):
            lines += _mark_before(offer, quote, width) if not wide else []
            lines += _block(cells, offer, width, is_table_above=wide)
        lines.append("")
    lines += _refused(quote, width)
    return "\n".join(line.rstrip() for line in lines).rstrip() + "\n"


def admission_text(admission: Admission, width: int) -> str:
    """The verdict, and every limit with what the job needs and what is left."""
    width = max(LEAST_WIDTH, width)
    passed = " (overridden)" if admission.overridden_at else ""
    gpu_hours = UNKNOWN if admission.gpu_hours is None else f"{admission.gpu_hours:,.1f}"
    lines = _wrapped(
        f"{admission.verdict.upper()}{passed}: {_plain(admission.team)}, {_counted(admission.gpus, 'GPU')},"
        f" {gpu_hours} GPU-hours, cost {_money(admission.cost)}"
        + (f" ({_plain(admission.cost_from)})" if admission.cost_from else ""),
        width,
    )
    for reason in admission.reasons:
        lines += _wrapped(f"- {_plain(reason)}", width)
    for limit in admission.limits:
        lines += _limit(limit, width)
    lines += [f"admission {admission.id}, digest {admission.digest[:12]}"]
    return "\n".join(lines) + "\n"


def _limit(limit: AdmissionLimit, width: int) -> list[str]:
    kind = f"{'hard' if limit.is_hard else 'soft'} {limit.kind}"
    # Nothing is expected of quotas.
    expected = "" if limit.kind == "quota" else f", {limit.left_expected or UNKNOWN} as expected"
    return _wrapped(
        f"{INDENT}{_plain(limit.name)} ({kind}): {limit.verdict}; needs {limit.needed or UNKNOWN} of"
        f" {limit.left_now or UNKNOWN} left now{expected}, {_plain(limit.unit)}",
        width,
    )


def _head(quote: Quote, width: int) -> list[str]:
    team = f", {_plain(quote.team)}" if quote.team else ""
    lines = _wrapped(
        f"Quote {quote.id}: {_counted(quote.gpus, 'GPU')}, {_plain(quote.work)}{team}", width
    )
    deadline = "no deadline"
    if quote.deadline is not None:
        left = (quote.deadline - quote.asked_at).total_seconds() / 3600
        deadline = f"deadline {_moment(quote.deadline)}, {_hours(left)} after that"
    lines += _wrapped(f"asked {_moment(quote.asked_at)}; {deadline}", width)
    lines += _wrapped(f"from the offer book of {_moment(quote.book_made_at)}", width)
    for caution in quote.cautions:
        lines += _wrapped(f"careful: {_plain(caution)}", width)
    for gate in quote.gates:
        if gate.is_passed is False:
            lines += _wrapped(f"not passed: {_plain(gate.says)}", width)
    for budget in quote.budgets:
        lines += _wrapped(_budget(budget), width)
    if quote.outcome is not None:
        lines += _wrapped(_outcome(quote, quote.outcome), width)
    return lines


def _budget(budget: BudgetLeft) -> str:
    return f"budget {_plain(budget.name)}: {_left(budget)} left as expected, until {budget.end_day}"


def _outcome(quote: Quote, outcome: Outcome) -> str:
    by = f"job {outcome.job}" if outcome.job is not None else f"run {outcome.run}"
    offer = next((each for each in quote.offers if each.key == outcome.offer), None)
    name = _plain(offer.name if offer else outcome.offer)
    if outcome.ended_at is None:
        return f"taken: {name} by {by}; what came of it is not known yet"
    said = _money(offer.charged) if offer else UNKNOWN
    hours = None if offer is None else offer.finish_hours
    return (
        f"taken: {name} by {by}; it came to {_money(outcome.cost)} (said: {said})"
        f" in {_hours(outcome.hours)} (said: {_hours(hours)})"
    )


def _cells(place: int, offer: QuotedOffer, quote: Quote) -> tuple[str, ...]:
    chance = NONE if quote.deadline is None else UNKNOWN
    if offer.deadline_chance is not None:
        chance = _share(offer.deadline_chance)
    standing = STANDINGS.get(offer.standing, _plain(offer.standing))
    is_without = quote.deadline is None and offer.standing in ("meets", "late")
    return (
        str(place),
        _plain(offer.name),
        OPTIONS.get(offer.option, _plain(offer.option)),
        _plain(offer.place) or UNKNOWN,
        _money(offer.cost.likely if offer.cost else None),
        f"{offer.cost.low.amount:,.2f} to {offer.cost.high.amount:,.2f}" if offer.cost else UNKNOWN,
        _hours(offer.finish_hours),
        chance,
        NONE if is_without else standing,
    )


def _table(quote: Quote, rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Aligned columns; where offers no longer meet the deadline, a line says so."""
    widths = [max(map(display_width, column)) for column in zip(HEADS, *rows)]

    def row(cells: Sequence[str]) -> str:
        padded = (_padded(*each) for each in zip(cells, widths, HEADS))
        return GAP.join(padded).rstrip()

    lines = [row(HEADS), GAP.join("-" * width for width in widths)]
    for cells, offer in zip(rows, quote.offers):
        mark = _mark(offer, quote)
        if mark:
            lines.append(f"{mark} ".ljust(sum(widths) + len(GAP) * (len(widths) - 1), "-"))
        lines.append(row(cells))
    return lines


def _mark(offer: QuotedOffer, quote: Quote) -> str:
    """What stands before the first offer of a standing other than in time."""
    if offer.is_in_time or offer != next(
        each for each in quote.offers if each.standing == offer.standing
    ):
        return ""
    if offer.standing == "late" and quote.deadline is not None:
        return f"--- deadline {_moment(quote.deadline)}: likely missed by what follows"
    if offer.standing == "finish_unknown" and quote.deadline is not None:
        return f"--- deadline {_moment(quote.deadline)}: not known of what follows"
    return "--- cost not known of what follows"


def _mark_before(offer: QuotedOffer, quote: Quote, width: int) -> list[str]:
    mark = _mark(offer, quote)
    return _wrapped(mark, width) if mark else []


def _block(
    cells: tuple[str, ...], offer: QuotedOffer, width: int, *, is_table_above: bool
) -> list[str]:
    """What an offer is made of; in a narrow terminal its figures too."""
    said = dict(zip(HEADS, cells))
    lines = _wrapped(f"{said['#']} {said['offer']}", width)
    if not is_table_above:
        lines += _wrapped(f"{INDENT}{said['kind']}, {said['place']}", width)
        lines += _wrapped(f"{INDENT}cost {said['cost']} ({said['range']})", width)
        lines += _wrapped(
            f"{INDENT}done in {said['done in']}; {said['standing']}, chance of the deadline {said['chance']}",
            width,
        )
    figures = [
        f"ledger will charge {_money(offer.charged)}",
        f"{_counted(offer.nodes, 'node')} of {_plain(offer.gpu_model)}",
    ]
    if offer.option == "spot":
        often = UNKNOWN if offer.interruptions is None else f"{offer.interruptions:.1f}"
        figures.append(f"{often} interruptions")
        if offer.cadence_seconds is not None:
            figures.append(f"a checkpoint every {offer.cadence_seconds / 60:,.1f} min")
    if offer.egress is None or offer.egress.amount:
        figures.append(f"egress {_money(offer.egress)}")
    figures += _beside(offer)
    lines += _wrapped(f"{INDENT}{', '.join(figures)}", width)
    for name, texts in (
        ("unknown", offer.unknown),
        ("careful", offer.cautions),
        ("why", offer.reasons),
        ("evidence", (*map(str, offer.price_rows), *_seen(offer.evidence))),
    ):
        for text in texts:
            lines += _wrapped(f"{INDENT}{name}: {_plain(text)}", width)
    return lines


def _beside(offer: QuotedOffer) -> list[str]:
    """What is paid, drawn and left of budgets beside the job's own cost."""
    figures = []
    if offer.rented_gpus is not None:
        figures.append(f"{_counted(offer.rented_gpus, 'GPU')} rented")
    if offer.paid_anyway is not None and offer.paid_anyway.amount:
        figures.append(f"{_money(offer.paid_anyway)} are paid anyway")
    if offer.kilowatt_hours is not None:
        figures.append(f"{offer.kilowatt_hours:,.1f} kWh {_plain(offer.energy_words)}".rstrip())
    return figures + [f"leaves {_left(each)} of {_plain(each.name)}" for each in offer.budgets]


def _seen(evidence: Optional[InterruptionEvidence]) -> list[str]:
    """Who saw interruptions there, how often, and until when."""
    if evidence is None or evidence.source is None:
        return []
    until = "nobody says when" if evidence.seen_until is None else _moment(evidence.seen_until)
    hours = UNKNOWN if evidence.exposure_hours is None else f"{evidence.exposure_hours:,.0f}"
    times = UNKNOWN if evidence.interruptions is None else str(evidence.interruptions)
    return [
        f"interruptions by {evidence.source} ({', '.join(evidence.names or ())}): {times} in {hours} hours, until {until}"
    ]


def _left(budget: Union[BudgetLeft, BudgetAfter]) -> str:
    if budget.left is None:
        return UNKNOWN
    return f"{budget.left:,.2f}{' GPU-hours' if budget.measure == 'gpu_hours' else ''}"


def _refused(quote: Quote, width: int) -> list[str]:
    lines: list[str] = []
    for why, number in sorted(quote.refused.items()):
        lines += _wrapped(f"left out: {_counted(number, 'offer')}, {_plain(why)}", width)
    more = quote.matched - len(quote.offers)
    if more > 0:
        lines += _wrapped(
            f"{_counted(more, 'offer')} more can take it: ask with a larger limit", width
        )
    return lines


def display_width(text: str) -> int:
    """How many columns a terminal needs for it."""
    return sum(
        0 if unicodedata.combining(each) else 1 + (unicodedata.east_asian_width(each) in "WF")
        for each in text
    )


def _padded(text: str, width: int, head: str) -> str:
    space = " " * (width - display_width(text))
    return space + text if head in RIGHT else text + space


def _wrapped(text: str, width: int) -> list[str]:
    """Lines of whole words, further ones set in under the first; a word that is too long is cut."""
    indent = text[: len(text) - len(text.lstrip())]
    lines, line = [], indent
    for word in text.split():
        for part in _parts(word, width - len(indent) - len(INDENT)):
            joined = f"{line} {part}" if line.strip() else line + part
            if display_width(joined) > width and line.strip():
                lines.append(line)
                line = indent + INDENT + part
            else:
                line = joined
    return [*lines, line]


def _parts(word: str, width: int) -> list[str]:
    if display_width(word) <= width:
        return [word]
    # Two columns each at most.
    step = max(1, width // 2)
    return [word[place : place + step] for place in range(0, len(word), step)]


def _plain(text: str) -> str:
    """What other people named, without what a terminal would take for a command."""
    return "".join(each if each.isprintable() else " " for each in str(text))


def _money(amount: Optional[Money]) -> str:
    return UNKNOWN if amount is None else str(amount)


def _hours(hours: Optional[float]) -> str:
    return UNKNOWN if hours is None else f"{hours:,.1f} h"


def _share(share: float) -> str:
    """Nothing is certain that is only nearly so."""
    if 0 < share < 0.005:
        return "<1%"
    return ">99%" if 0.995 <= share < 1 else f"{share:.0%}"


def _moment(at: datetime) -> str:
    return f"{at.astimezone(timezone.utc):%Y-%m-%d %H:%M} UTC"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
