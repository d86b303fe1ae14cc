"""A line in words: its title, what it says, and what its charge and settlement say."""

from collections.abc import Iterator

from django.urls import reverse

from apps.console.pages.costs.line_facts import LineFacts
from apps.console.pages.costs.lines import evidence_keys, flags_in_words
from apps.console.pages.costs.question import DEFAULTS
from apps.console.pages.costs.values import Detail
from apps.console.pages.frame import Link
from apps.console.pages.overview.sums import state_key
from apps.economics.ownership import TEXT_MATCHES, Rule
from apps.ledger.queries import Basis
from apps.show.amounts import gpu_hours
from apps.show.money import full_amount
from apps.show.time import instant
from apps.show.words import basis_words, evidence_words, state_words, status_words

KINDS = {
    "node_hour": "an hour of a node",
    "shared": "a shared cost of the hour",
    "commitment_unused": "unused commitment",
}


def finding(facts: LineFacts) -> str:
    """`Job 4711 held 4.00 GPU-hours idle: $49.16.`"""
    behind = facts.behind
    amount = behind.micros[Basis.EFFECTIVE]
    cost = "its cost is not known" if amount is None else full_amount(amount, _currency(facts))
    words = state_words(state_key(behind.state)).label.lower()
    when = instant(behind.hour, facts.zone)
    who = f"Job {facts.job.raw_id}" if facts.job else facts.teams[behind.team_id].name
    if behind.state is None:
        return f"{who} carries a part of another charge of {when}: {cost}."
    hours = gpu_hours(behind.unit_milliseconds)
    return f"{who}, {when}: {hours} GPU-hours {words}, {cost}."


def trail_of(facts: LineFacts) -> tuple[Link, ...]:
    """From the top to the job, on the line's own day."""
    day = str(facts.behind.hour.astimezone(facts.zone).date())
    asked = f"?window={day}" if day != DEFAULTS["window"] else ""
    team = facts.teams[facts.behind.team_id]
    trail = [
        Link("Costs", reverse("costs") + asked),
        Link(team.name, reverse("costs-team", args=[team.id]) + asked),
    ]
    if facts.job:
        href = reverse("costs-job", args=[facts.job.id]) + asked
        trail.append(Link(f"Job {facts.job.raw_id}", href))
    return tuple(trail)


def about_line(facts: LineFacts) -> tuple[Detail, ...]:
    """What the line says and what it rests on."""
    return tuple(_line(facts))


def about_charge(facts: LineFacts) -> tuple[Detail, ...]:
    """The charge it is a part of, and the settlement that divided it."""
    return tuple(_charge(facts))


def _line(facts: LineFacts) -> Iterator[Detail]:
    behind = facts.behind
    state = state_words(state_key(behind.state))
    yield Detail("State", state.label, state.explanation)
    for basis in (Basis.EFFECTIVE, Basis.CONTRACTED, Basis.LIST, Basis.BILLED):
        word = basis_words(str(basis))
        amount = behind.micros[basis]
        text = "not known" if amount is None else full_amount(amount, _currency(facts))
        yield Detail(f"{word.label} cost", text, word.explanation)
    for key in evidence_keys(behind.evidence):
        yield Detail("Evidence", evidence_words(key).label, evidence_words(key).explanation)
    for flag in flags_in_words(behind.flags):
        yield Detail("Note", flag.label, flag.explanation)
    yield from _held(facts)
    yield Detail("Belongs to", facts.teams[behind.team_id].name, _why(facts))


def _held(facts: LineFacts) -> Iterator[Detail]:
    for fact in facts.held:
        gpus = f"{fact.gpus} GPUs" if fact.gpus != 1 else "1 GPU"
        pinned = "of the node, which ones is not known"
        if fact.device_uuids is not None:
            pinned = f"granted: {', '.join(fact.device_uuids)}"
        span = f"{instant(fact.held_from, facts.zone)} to {instant(fact.held_to, facts.zone)}"
        yield Detail("Held", f"{gpus}, {span}", pinned)


def _why(facts: LineFacts) -> str:
    behind, pool = facts.behind, facts.pool
    if behind.job_id is None:
        owner = pool.owner_team_id if pool else None
        if owner == behind.team_id:
            return "No job held it, and this team owns the pool."
        return "No job held it, and the pool has no owner team."
    if facts.rule is None:
        return "No ownership rule matches the job."
    if not facts.viewer.sees_everything and facts.rule.team_id not in facts.teams:
        return "By an ownership rule that has changed since."
    return f"By the rule of priority {facts.rule.priority}: {_rule(facts.rule)}."


def _rule(rule: Rule) -> str:
    texts = [f"{name} {getattr(rule, name)}" for name in TEXT_MATCHES if getattr(rule, name)]
    texts += [
        f"{name} {text}" for name, text in (("label", rule.label), ("name", rule.name)) if text
    ]
    return ", ".join(texts) or "every job"


def _charge(facts: LineFacts) -> Iterator[Detail]:
    behind = facts.behind
    kind = KINDS.get(behind.kind, behind.kind.replace("_", " "))
    where = f"node {facts.node} of pool {facts.pool.name}" if facts.node and facts.pool else ""
    yield Detail("Charge", f"{kind}, {instant(behind.hour, facts.zone)}", where)
    if behind.charged is not None:
        amount = behind.charged[Basis.EFFECTIVE]
        text = "no price" if amount is None else full_amount(amount, _currency(facts))
        yield Detail("Effective cost of all of it", text)
    status = status_words(behind.status)
    yield Detail("Status", status.label, behind.status_reason or status.explanation)
    yield Detail("Charged through", instant(behind.through, facts.zone))
    if behind.version is not None:
        number = "provisional" if not behind.version else f"version {behind.version}"
        yield Detail("Settlement", number, behind.reason)
        yield Detail("Settled", instant(behind.settled_at, facts.zone))
    if behind.policy_version is not None:
        yield Detail(
            "Share policy",
            f"version {behind.policy_version} of the pool",
            "how slices and replicas count as parts of a GPU; a whole GPU is 1",
        )


def _currency(facts: LineFacts) -> str:
    return facts.organisation.currency
