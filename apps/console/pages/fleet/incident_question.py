"""What the address of the list of incidents asks for; what is not understood is said."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

from apps.console.kit.frame import Choice, Filter
from apps.show.incidents import incident_label
from apps.telemetry.queries import IncidentsWanted

SINCE = {"day": 1, "week": 7, "": 30, "year": 365}
SINCE_SAID = {"day": "24 hours", "week": "7 days", "": "30 days", "year": "A year"}
OPEN = {"": "Open and over", "yes": "Open", "no": "Over"}
LONGEST_TEXT = 100


@dataclass(frozen=True, slots=True)
class IncidentQuestion:
    """Which incidents; `kept` is what of the address stands."""

    wanted: IncidentsWanted
    kept: Mapping[str, str]
    filters: tuple[Filter, ...]
    problems: tuple[str, ...]

    def href(self, name: str, **changes: str) -> str:
        """The address of the same question, changed."""
        asked = {key: text for key, text in ({**self.kept, **changes}).items() if text}
        return reverse(name) + (f"?{urlencode(asked)}" if asked else "")


def incident_question(
    given: QueryDict, kinds: Sequence[str], nodes: Mapping[str, int], now: tuple[datetime, tzinfo]
) -> IncidentQuestion:
    """Parse the address; nothing in it is refused."""
    problems: list[str] = []
    at, zone = now
    kind = _one_of(given, "kind", ("", *kinds), "no incident of the kind", problems)
    node = _one_of(given, "node", ("", *nodes), "no incident on a node named", problems)
    lasts = {"yes": True, "no": False}
    is_open = _one_of(given, "open", tuple(OPEN), "no such choice as", problems)
    since, said = _since(given.get("since", "")[:LONGEST_TEXT], at, zone)
    if said is None:
        problems.append("A time is day, week, year or a date like 2026-03-31. Shown: 30 days.")
    spans = dict(SINCE_SAID)
    spans.setdefault(said or "", f"Since {said}")
    names = {"": "All kinds"} | {each: incident_label(each) for each in kinds}
    of_nodes = {"": "All nodes"} | {each: each for each in nodes}
    return IncidentQuestion(
        wanted=IncidentsWanted(
            node_id=nodes.get(node),
            kind=kind or None,
            is_open=lasts.get(is_open),
            since=since,
        ),
        kept={"kind": kind, "node": node, "open": is_open, "since": said or ""},
        filters=(
            _filter("open", "Incidents", OPEN, is_open),
            _filter("kind", "Kind", names, kind),
            _filter("node", "Node", of_nodes, node),
            _filter("since", "In the last", spans, said or ""),
        ),
        problems=tuple(problems),
    )


def _one_of(
    given: QueryDict, name: str, known: Sequence[str], none: str, problems: list[str]
) -> str:
    text = given.get(name, "")[:LONGEST_TEXT]
    if text in known:
        return text
    problems.append(f"There is {none} {text!r}. Shown instead: all.")
    return ""


def _since(text: str, at: datetime, zone: tzinfo) -> tuple[datetime, str | None]:
    if text in SINCE:
        return at - timedelta(days=SINCE[text]), text
    try:
        day = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=zone)
    except ValueError:
        return at - timedelta(days=SINCE[""]), None
    return day, text


def _filter(name: str, label: str, choices: Mapping[str, str], chosen: str) -> Filter:
    made = tuple(Choice(value, text, value == chosen) for value, text in choices.items())
    return Filter(name, label, made)
