"""Anomalies and improvements in words."""

from collections.abc import Mapping
from datetime import date

from apps.economics.money import MICROS
from apps.review.queries.findings import FindingFact
from apps.review.queries.measures import COST, DATA_WAIT, MFU, TOKENS
from apps.review.queries.spend_anomalies import SpendFact
from apps.review.queries.verdicts import STATES
from apps.show.amounts import counted, per_cent
from apps.show.money import rounded_amount, unit_cost
from apps.show.time import day

UNITS: Mapping[str, str] = {
    COST: "effective cost of 1,000 requests, all that the service held",
    TOKENS: "prompt and output tokens for each request",
    MFU: "model operations of what the GPUs could do at most, of runs by the day they began",
    DATA_WAIT: "of the reported time of training",
}
PARTS: Mapping[str, tuple[str, str]] = {
    "price": (
        "Price",
        "what an hour of GPU costs before commitments, and charges without GPU time",
    ),
    "commitments": (
        "Commitments",
        "what reservations, savings plans and credits take off the price",
    ),
    "volume": ("Volume", "how many tokens a request has"),
    "mix": ("Mix", "which GPUs, or which features, the work is of"),
    "efficiency": ("Efficiency", "how much GPU time the same work takes"),
}


def level(finding: FindingFact, value: float, currency: str) -> str:
    """A level of the measure."""
    if finding.measure == COST:
        return unit_cost(round(value * MICROS), currency)
    if finding.measure == TOKENS:
        return f"{value:,.0f}"
    return per_cent(value)


def moved(finding: FindingFact, millionths: int, currency: str) -> str:
    """A part with its sign, to the last digit that levels are told with here, so that they add."""
    sign = "+" if millionths > 0 else "−" if millionths < 0 else ""
    return sign + exact(finding, abs(millionths), currency)


def exact(finding: FindingFact, millionths: int, currency: str) -> str:
    """Every digit of a level or a part: what is shown adds up as it is."""
    units, fraction = divmod(millionths, MICROS)
    if finding.measure == COST:
        return f"{currency} {units:,}.{fraction:06d}"
    if finding.measure == TOKENS:
        return f"{units:,}.{fraction:06d}"
    hundredths = millionths * 100
    return f"{hundredths // MICROS}.{hundredths % MICROS // 100:04d} %"


def impact(finding: FindingFact, currency: str) -> str:
    """Return what a finding comes to in 30 days, in words."""
    if finding.impact_micros is None:
        return "not known in money"
    size = rounded_amount(abs(finding.impact_micros), currency)
    return f"{size} {'more' if finding.impact_micros > 0 else 'less'} in 30 days"


def answered(finding: FindingFact | SpendFact) -> tuple[str, ...]:
    """Return what people said of a finding, in short: its state, and how strictly its series is looked at."""
    state = f"state: {STATES[finding.state]}"
    if finding.strictness == 1:
        return (state,)
    return (
        f"looked at {finding.strictness:.2f} times as strictly, after false alarms of its series",
        state,
    )


def distance(days: int) -> str:
    """How far from the change: `2 days before`, `the same day`."""
    if not days:
        return "the same day"
    return f"{counted(abs(days), 'day')} {'before' if days < 0 else 'after'}"


def cause_in_short(finding: FindingFact) -> str:
    """The nearest of what changed about then, or that nothing known did."""
    if not finding.causes:
        return "nothing known changed then"
    nearest = finding.causes[0]
    return f"{nearest['kind']}: {nearest['what']}, {distance(nearest['days'])}"


def on_day(text: str) -> str:
    """A day of a cause."""
    return day(date.fromisoformat(text))
