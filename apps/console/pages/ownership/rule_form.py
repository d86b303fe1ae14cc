"""The form of a rule: read once from the address or a POST; what is wrong is said by field."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime

from django.http import QueryDict

from apps.accounts.queries import OrganisationFact
from apps.console.pages.ownership.names import Names
from apps.console.pages.ownership.values import Option, OptionGroup, TextField
from apps.economics.hours import first_hour
from apps.economics.ownership import TEXT_MATCHES, Rule
from apps.workloads.queries import RuleFact

LONGEST_TEXT = 200
DEFAULT_PRIORITY = "100"
HIGHEST_PRIORITY = 1_000_000
NAMES = ("owner", "cluster", *TEXT_MATCHES, "label", "name", "priority", "from", "to")
HINTS: Mapping[str, str] = {
    "account": "the scheduler’s account",
    "partition": "the scheduler’s partition or queue",
    "namespace": "in Kubernetes",
    "user": "who submitted it",
    "label": "key=value",
    "name": "the job’s name; * stands for any letters",
}


@dataclass(frozen=True, slots=True)
class RuleForm:
    """What was asked for. `rule` is None where a field has a problem."""

    given: Mapping[str, str]
    rule: RuleFact | None
    first_day: date | None
    problems: Mapping[str, str]

    @property
    def is_asked(self) -> bool:
        """Whether somebody said whose the jobs are, so that there is something to look at."""
        return bool(self.given["owner"])


def read_form(given: QueryDict, called: Names, organisation: OrganisationFact) -> RuleForm:
    """The rule that the form describes; nothing is refused, problems are told by field."""
    texts = {name: given.get(name, "").strip()[:LONGEST_TEXT] for name in NAMES}
    texts["priority"] = texts["priority"] or DEFAULT_PRIORITY
    problems = {name: said for name, said in _problems(texts, called) if said}
    if problems:
        return RuleForm(texts, None, None, problems)
    team, _, workload = texts["owner"].partition("/")
    cluster_ids = {name: cluster_id for cluster_id, name in called.clusters.items()}
    first_day, end_day = _day(texts["from"]), _day(texts["to"])
    rule = Rule(
        priority=int(texts["priority"]),
        team_id=int(team),
        workload_id=int(workload) if workload else None,
        cluster_id=cluster_ids.get(texts["cluster"]),
        account=texts["account"],
        partition=texts["partition"],
        namespace=texts["namespace"],
        user=texts["user"],
        label=texts["label"],
        name=texts["name"],
    )
    fact = RuleFact(rule, _start(first_day, organisation), _start(end_day, organisation))
    return RuleForm(texts, fact, first_day, {})


def owner_groups(called: Names, chosen: str) -> tuple[OptionGroup, ...]:
    """Teams, each with its workloads below it."""
    groups = []
    for team in sorted(called.teams.values(), key=lambda each: each.name):
        if team.kind == "unowned":
            continue
        own = [each for each in called.workloads.values() if each.team_id == team.id]
        options = [Option(str(team.id), f"{team.name}, no workload", str(team.id) == chosen)]
        for each in sorted(own, key=lambda workload: workload.name):
            value = f"{team.id}/{each.id}"
            options.append(Option(value, f"{team.name}: {each.name}", value == chosen))
        groups.append(OptionGroup(team.name, tuple(options)))
    return tuple(groups)


def cluster_options(called: Names, chosen: str) -> tuple[Option, ...]:
    """Any cluster, or one."""
    listed = sorted(called.clusters.values())
    return (
        Option("", "Any cluster", not chosen),
        *(Option(name, name, name == chosen) for name in listed),
    )


def field(form: RuleForm, name: str, label: str, hint: str) -> TextField:
    """One input with what stood in it and what was wrong with that."""
    problem = form.problems.get(name, "") if form.is_asked else ""
    return TextField(name, label, form.given[name], hint, problem)


def asks_fields(form: RuleForm) -> tuple[TextField, ...]:
    """What of a job may be asked."""
    return tuple(field(form, name, name.capitalize(), hint) for name, hint in HINTS.items())


def _problems(texts: Mapping[str, str], called: Names) -> tuple[tuple[str, str], ...]:
    return (
        ("owner", _owner_problem(texts["owner"], called)),
        ("cluster", _cluster_problem(texts["cluster"], called)),
        ("label", "is not key=value" if texts["label"] and "=" not in texts["label"] else ""),
        ("priority", _priority_problem(texts["priority"])),
        ("from", _day_problem(texts["from"])),
        ("to", _day_problem(texts["to"])),
        ("account", _nothing_asked(texts)),
    )


def _owner_problem(text: str, called: Names) -> str:
    chosen = {option.value for group in owner_groups(called, "") for option in group.options}
    return "" if text in chosen else "Say whose the jobs are."


def _cluster_problem(text: str, called: Names) -> str:
    return "" if not text or text in called.clusters.values() else "There is no such cluster."


def _priority_problem(text: str) -> str:
    if text.isascii() and text.isdigit() and int(text) <= HIGHEST_PRIORITY:
        return ""
    return f"is not a whole number from 0 to {HIGHEST_PRIORITY:,}"


def _nothing_asked(texts: Mapping[str, str]) -> str:
    if any("\0" in text for text in texts.values()):
        return "holds a character that no text may"
    asked = [texts[name] for name in ("cluster", *TEXT_MATCHES, "label", "name")]
    return "" if any(asked) else "Say which jobs: a rule that asks nothing would take them all."


def _day_problem(text: str) -> str:
    try:
        day = _day(text)
    except ValueError:
        return "is not a day such as 2026-11-01"
    return "" if day is None or date(1970, 1, 1) <= day < date(3000, 1, 1) else "is out of reach"


def _day(text: str) -> date | None:
    return date.fromisoformat(text) if text else None


def _start(day: date | None, organisation: OrganisationFact) -> datetime | None:
    return None if day is None else first_hour(day, organisation.zone)
