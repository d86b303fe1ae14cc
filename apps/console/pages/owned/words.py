"""What a change of a plan would move, in sentences."""

from apps.ledger.queries.owned_plans import ChangedWhatIf, OwnedWhatIf
from apps.pricing.actions import NewOwnedPlan
from apps.show.amounts import counted
from apps.show.money import full_amount, signed_amount

NOTHING = ("No past hour of an open month changes; it counts from then on.",)


def entered(found: OwnedWhatIf, plan: NewOwnedPlan) -> tuple[str, ...]:
    """By the hours that are charged already."""
    if not found.hours:
        return (*NOTHING, *_closed(found.closed_hours))
    currency = plan.currency
    said = [
        f"{counted(found.hours, 'hour')} of open months are charged again: "
        f"{full_amount(found.before_micros, currency)} becomes about "
        f"{full_amount(found.after_micros, currency)}, of which "
        f"{full_amount(found.owed_micros, currency)} is owed whether or not a node runs and "
        f"{full_amount(found.power_micros, currency)} is power by the plates."
    ]
    if found.unpriced_hours:
        said.append(f"{counted(found.unpriced_hours, 'node-hour')} without a price get one.")
    if found.over:
        said.append(f"{found.over:,.1f} node-hours beyond {plan.nodes} nodes have no price then.")
    return (*said, *_closed(found.closed_hours))


def changed(found: ChangedWhatIf, currency: str) -> tuple[str, ...]:
    """What the plan's charged hours would come to."""
    if not found.hours:
        return (*NOTHING, *_closed(found.closed_hours))
    moved = signed_amount(found.after_micros - found.before_micros, currency)
    return (
        f"{counted(found.hours, 'hour')} of open months are charged again: {moved}, to "
        f"{full_amount(found.after_micros, currency)}.",
        *_closed(found.closed_hours),
    )


def ended(found: ChangedWhatIf, currency: str) -> tuple[str, ...]:
    """What is owed no more."""
    if not found.hours:
        return (*NOTHING, *_closed(found.closed_hours))
    return (
        f"{counted(found.hours, 'hour')} of open months are charged again: "
        f"{full_amount(found.before_micros, currency)} is owed no more; nodes that live then cost "
        "what their pool’s rates say, or have no price.",
        *_closed(found.closed_hours),
    )


def _closed(hours: int) -> tuple[str, ...]:
    if not hours:
        return ()
    return (f"{counted(hours, 'hour')} of closed months stay; corrections can be posted.",)
