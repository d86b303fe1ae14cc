"""An anomaly of spend in words: whose, how much more, since when, and what drove it."""

from apps.economics.spend_looks import SpendLook
from apps.review.models import SpendSubject
from apps.review.models.spend import SpendLine
from apps.review.queries.spend_anomalies import SpendFact
from apps.show.amounts import counted, per_cent
from apps.show.money import whole_amount
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
    SpendLook.DAY: "the same weekdays of the six weeks before",
    SpendLook.WEEK: "the four weeks before",
    SpendLook.WEEKEND: "the six weekends before",
}
OVER_LINES = {
    SpendLook.BUDGET: "its budget's pace",
    SpendLook.YEAR: "the same weeks a year ago",
}
DIMENSIONS = {
    "team": "team",
    "workload": "workload",
    "pool": "pool",
    "provider": "provider",
    "kind": "kind of charge",
    "user": "user",
}


def spend_title(found: SpendFact, currency: str) -> str:
    """`Research: $1,204 more than usual since Mon 2 March (+62 %)`, or what it crept over, since when."""
    more = whole_amount(found.excess_micros, currency)
    size = "" if found.effect_ratio is None else f" (+{per_cent(found.effect_ratio)})"
    name = found.name
    if found.subject == SpendSubject.ORGANISATION:
        name = "The organisation"
    if found.over_since is None:
        return f"{name}: {more} more than usual {_when(found)}{size}"
    over = f"{more} over {OVER_LINES[SpendLook(found.look)]} in {counted(found.days, 'day')}"
    return f"{name}: {over}, over it since {day(found.over_since)}{size}"


def spend_facts(found: SpendFact, currency: str) -> list[tuple[str, str]]:
    """What its alert is told from."""
    month = found.month_micros
    facts = [
        ("Of", f"{found.subject} {found.name}" if found.key else found.name),
        ("Since", weekday(found.over_since or found.began_on)),
        ("Spent", whole_amount(found.spent_micros, currency)),
        ("Expected", whole_amount(found.expected_micros, currency)),
    ]
    if month is not None:
        facts.append(("Projected monthly impact", whole_amount(month, currency)))
    facts.append(("Found", f"{LOOKS[found.look]}, against {line_words(found)}"))
    facts.append(("Main driver", driven_by(found)))
    if found.known_event:
        facts.append(("Known", f"{found.known_event['what']} on {found.known_event['on']}"))
    elif found.causes:
        nearest = found.causes[0]
        facts.append(("Possible cause", f"{nearest['kind']}: {nearest['what']}"))
    return facts


def line_words(found: SpendFact) -> str:
    """`the weeks from 5 January to 25 January`: which line the look that found it holds it against."""
    if found.look == SpendLook.BUDGET:
        return f"the pace of its budget {found.line_name}"
    if found.look == SpendLook.YEAR:
        return f"the same weeks a year ago × {found.line_scale:.2f}, as they were over them before"
    said = LINES.get(SpendLook(found.look))
    if said is None and found.line_from is not None and found.line_until is not None:
        return f"the weeks from {day(found.line_from)} to {day(found.line_until)}"
    return said or "weeks longer ago"


def look_words(found: SpendFact) -> str:
    """`found by the week, since Mon 2 March, against the four weeks before`."""
    since = weekday(found.over_since or found.began_on)
    return f"found {LOOKS[found.look]}, since {since}, against {line_words(found)}"


def driven_by(found: SpendFact) -> str:
    """`volume (92 %), of workload llm-7b (88 %)`: the largest part, and the largest driver of each that is told first."""
    part = max(found.parts, key=lambda each: each["micros"], default=None)
    said = []
    if part is not None and found.excess_micros:
        share = per_cent(part["micros"] / found.excess_micros)
        said.append(f"{PARTS[part['name']][0].lower()} ({share})")
    for driver in found.drivers:
        top = max(driver["rows"], key=lambda each: each["micros"], default=None)
        if (
            driver["dimension"] in ("workload", "user")
            and top
            and not top["name"].startswith("no ")
        ):
            share = per_cent(top["micros"] / found.excess_micros)
            said.append(f"{DIMENSIONS[driver['dimension']]} {top['name']} ({share})")
            break
    return ", ".join(said)


def _when(found: SpendFact) -> str:
    if found.ended_on is None:
        return f"since {day(found.began_on)}"
    if found.days == 1:
        return f"on {day(found.began_on)}"
    return f"in {counted(found.days, 'day')} from {day(found.began_on)} on"
