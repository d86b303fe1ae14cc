"""Effects that a change of a price would have, in sentences."""

from datetime import datetime, timedelta

from apps.console.kit.request import Context
from apps.economics.hours import HOUR
from apps.ledger.queries.closes.months import closed_spans
from apps.pricing.queries.what_if import WhatIf
from apps.show.amounts import counted
from apps.show.money import rounded_amount, signed_amount
from apps.show.time import instant
from apps.show.words import joined

MOST_NAMES = 5


def effects_of(what_if: WhatIf, context: Context) -> tuple[str, ...]:
    """Return what a price would move, in sentences; amounts are estimates."""
    reach = what_if.reach
    names = [name for _, name in reach.pools[:MOST_NAMES]]
    if len(reach.pools) > MOST_NAMES:
        names.append(f"{len(reach.pools) - MOST_NAMES} more")
    if not names:
        return ("No pool is like this yet, so nothing changes until one is.",)
    sentences = [f"It can price {joined(names)}."]
    if reach.starts_at is None or not reach.hours:
        return (*sentences, "No past hour changes; it counts from its start on.")
    unmoved = "No effective amount changes: another price holds there."
    return (*sentences, *charged_again(what_if, context, unmoved))


def charged_again(what_if: WhatIf, context: Context, unmoved: str) -> tuple[str, ...]:
    """Return which past hours are charged again and what their cost becomes, or `unmoved`; nothing where none is."""
    reach, currency = what_if.reach, context.currency
    if reach.starts_at is None or not reach.hours:
        return ()
    sentences = [
        f"{counted(reach.hours, 'past hour')} since {instant(reach.starts_at, context.zone)} "
        f"{'is' if reach.hours == 1 else 'are'} charged again: about {reach.node_hours:,.0f} "
        f"node-hours of {counted(reach.nodes, 'node')}."
    ]
    if closed := _closed_hours(reach.starts_at, reach.ends_at):
        sentences.append(
            f"{counted(closed, 'hour')} of them {'is' if closed == 1 else 'are'} of closed months: "
            "what they move waits there until somebody posts it as corrections."
        )
    if not what_if.changes:
        return (*sentences, unmoved)
    moved = what_if.after_micros - what_if.before_micros
    sentences.append(
        f"Their effective cost goes from about {rounded_amount(what_if.before_micros, currency)} to "
        f"about {rounded_amount(what_if.after_micros, currency)} ({signed_amount(moved, currency)})."
    )
    if what_if.unpriced_before != what_if.unpriced_after:
        sentences.append(
            f"Node-hours without a price: {what_if.unpriced_before:,.0f} before, "
            f"{what_if.unpriced_after:,.0f} after."
        )
    return tuple(sentences)


def _closed_hours(starts_at: datetime, ends_at: datetime | None) -> int:
    lasting = [
        min(span.ends_at, ends_at or span.ends_at) - max(span.starts_at, starts_at)
        for span in closed_spans()
    ]
    return sum(span // HOUR for span in lasting if span > timedelta(0))
