"""An anomaly of spend in words: whose, how much more, since when, and what drove it."""

from apps.economics.spend_detectors import SpendDetector
from apps.review.models import SpendSubject
from apps.review.models.spend import SpendLine
from apps.review.queries.spend_anomalies import SpendFact
from apps.review.queries.spend_series import NAMELESS
from apps.show.amounts import counted, per_cent
from apps.show.money import rounded_amount
from apps.show.time import day, weekday
from apps.show.words import OLD_CAUSE_WORDS

OF_CAPACITY = ("price", "capacity", "use", "mix", "volume", "efficiency", "commitments")
PARTS = {name: OLD_CAUSE_WORDS[name] for name in OF_CAPACITY} | {
    "api": ("API calls", "calls to model APIs"),
    "credits": ("Credits", "what is given back"),
    "charges": ("Other charges", "what has no GPU time: services, support, storage, one-off items"),
}
LOOKS = dict(SpendLine.choices)
LINES = {
    SpendDetector.DAY: "the same weekdays of the six weeks before",
    SpendDetector.WEEK: "the four weeks before",
    SpendDetector.WEEKEND: "the six weekends before",
}
OVER_LINES = {
    SpendDetector.BUDGET: "its budget's pace",
    SpendDetector.YEAR: "the same weeks a year ago",
}
DIMENSIONS = {
    "team": "team",
    "workload": "workload",
    "pool": "pool",
    "provider": "provider",
    "kind": "kind of charge",
    "user": "user",
}


def spend_title(anomaly: SpendFact, currency: str) -> str:
    """`Research: $1,204 more than usual since Mon 2 March (+62 %)`, or what it crept over, since when."""
    more = rounded_amount(anomaly.excess_micros, currency)
    size = "" if anomaly.effect_ratio is None else f" (+{per_cent(anomaly.effect_ratio)})"
    name = anomaly.name
    if anomaly.subject == SpendSubject.ORGANISATION:
        name = "The organisation"
    if anomaly.over_since is None:
        return f"{name}: {more} more than usual {_when(anomaly)}{size}"
    line = OVER_LINES[SpendDetector(anomaly.look)]
    over = f"{more} over {_times(anomaly)}{line} in {counted(anomaly.days, 'day')}"
    return f"{name}: {over}, over it since {day(anomaly.over_since)}{size}"


def spend_facts(anomaly: SpendFact, currency: str) -> list[tuple[str, str]]:
    """Return the facts that the alert of an anomaly of spend is told from."""
    month = anomaly.month_micros
    facts = [
        ("Of", f"{anomaly.subject} {anomaly.name}" if anomaly.key else anomaly.name),
        ("Since", weekday(anomaly.over_since or anomaly.began_on)),
        ("Spent", rounded_amount(anomaly.spent_micros, currency)),
        ("Expected", rounded_amount(anomaly.expected_micros, currency)),
    ]
    if month is not None:
        facts.append(("Projected monthly impact", rounded_amount(month, currency)))
    facts.append(("Found", f"{LOOKS[anomaly.look]}, against {line_words(anomaly)}"))
    facts.append(("Main driver", driven_by(anomaly)))
    if anomaly.known_event:
        facts.append(("Known", f"{anomaly.known_event['what']} on {anomaly.known_event['on']}"))
    elif anomaly.causes:
        nearest = anomaly.causes[0]
        facts.append(("Possible cause", f"{nearest['kind']}: {nearest['what']}"))
    return facts


def line_words(anomaly: SpendFact) -> str:
    """`the weeks from 5 January to 25 January`: which line the look that found it holds it against."""
    if anomaly.look == SpendDetector.BUDGET:
        return f"the pace of its budget {anomaly.line_name}"
    if anomaly.look == SpendDetector.YEAR:
        times = _times(anomaly)
        anyhow = ", as it was before it crept" if times else ""
        return f"{times}{OVER_LINES[SpendDetector.YEAR]}{anyhow}"
    line = LINES.get(SpendDetector(anomaly.look))
    if line is None and anomaly.line_from is not None and anomaly.line_until is not None:
        return f"the weeks from {day(anomaly.line_from)} to {day(anomaly.line_until)}"
    return line or "weeks longer ago"


def describe_detection(anomaly: SpendFact) -> str:
    """`found by the week, since Mon 2 March, against the four weeks before`."""
    since = weekday(anomaly.over_since or anomaly.began_on)
    return f"found {LOOKS[anomaly.look]}, since {since}, against {line_words(anomaly)}"


def driven_by(anomaly: SpendFact) -> str:
    """`volume (92 %), of workload llm-7b (88 %)`: the largest part, and the largest driver of each that is told first."""
    part = max(anomaly.parts, key=lambda cause: cause["micros"], default=None)
    phrases = []
    if part is not None and anomaly.excess_micros:
        share = per_cent(part["micros"] / anomaly.excess_micros)
        phrases.append(f"{PARTS[part['name']][0].lower()} ({share})")
    for driver in anomaly.drivers:
        top = max(driver["rows"], key=lambda row: row["micros"], default=None)
        if (
            driver["dimension"] in ("workload", "user")
            and top
            and top.get("is_named", top["name"] != NAMELESS[driver["dimension"]])
        ):
            share = per_cent(top["micros"] / anomaly.excess_micros)
            phrases.append(f"{DIMENSIONS[driver['dimension']]} {top['name']} ({share})")
            break
    return ", ".join(phrases)


def _times(anomaly: SpendFact) -> str:
    """`1.30 × `: how much more than a year ago it was before it crept; '' where it was no more."""
    times = f"{anomaly.line_scale:.2f}"
    return f"{times} × " if anomaly.look == SpendDetector.YEAR and times != "1.00" else ""


def _when(anomaly: SpendFact) -> str:
    if anomaly.ended_on is None:
        return f"since {day(anomaly.began_on)}"
    if anomaly.days == 1:
        return f"on {day(anomaly.began_on)}"
    return f"in {counted(anomaly.days, 'day')} from {day(anomaly.began_on)} on"
