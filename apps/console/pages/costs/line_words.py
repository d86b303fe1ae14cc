"""A line in words: its title, what it says, and what its charge and settlement say."""

from collections.abc import Iterator

from django.urls import reverse

from apps.console.kit.frame import Link
from apps.console.pages.costs.details import Detail
from apps.console.pages.costs.line_facts import LineFacts, in_force
from apps.console.pages.costs.lines import evidence_keys, flags_in_words
from apps.console.pages.costs.sums import state_key
from apps.ledger.queries import Basis
from apps.ledger.queries.drill import LineProvenance
from apps.show.amounts import gpu_hours
from apps.show.money import full_amount
from apps.show.rules import rule_in_words
from apps.show.time import instant
from apps.show.words import basis_words, evidence_words, state_words, status_words
from apps.workloads.queries import HeldFact

KINDS = {
    "node_hour": "an hour of a node",
    "shared": "a shared cost of the hour",
    "commitment_unused": "unused commitment",
    "owned_unused": "owned hardware, not tied to a node",
}


POLICIES = {
    "largest": "the larger of its parts of compute and memory",
    "compute": "its part of the compute slices",
    "memory": "its part of the memory",
}


def finding(facts: LineFacts) -> str:
    """`Job 4711 held 4.00 GPU-hours idle: $49.16.`"""
    line = facts.behind
    amount = line.micros[facts.basis]
    cost = "its cost is not known" if amount is None else full_amount(amount, facts.asked.currency)
    words = state_words(state_key(line.state)).label.lower()
    when = instant(line.hour, facts.zone)
    subject = f"Job {facts.job.raw_id}" if facts.job else facts.teams[line.team_id].name
    if line.state is None:
        return f"{subject} carries {_carried_words(line)} of {when}: {cost}."
    hours = gpu_hours(line.unit_milliseconds)
    unit = "core-hours" if facts.pool and facts.pool.counts_cores else "GPU-hours"
    return f"{subject}, {when}: {hours} {unit} {words}, {cost}."


def _carried_words(line: LineProvenance) -> str:
    """Return what a line without GPU time is of, in words."""
    if line.shared_by:
        return f"a part of {line.shared_cost}, shared {line.shared_by},"
    if line.kind == "node_hour":
        return f"what of {line.node} does not ride on its GPUs,"
    return KINDS.get(line.kind, line.kind.replace("_", " "))


def settled(facts: LineFacts) -> str:
    """`settled 21 November 2026, 05:28 UTC`: since when the line says this."""
    if facts.behind.settled_at is None:
        return "not settled yet"
    return f"settled {instant(facts.behind.settled_at, facts.zone)}"


def trail_of(facts: LineFacts) -> tuple[Link, ...]:
    """From the top to the job, with the filters of the way down, or else on the line's own day."""
    line = facts.behind
    team = facts.teams[line.team_id]
    trail = [
        Link("Cost explorer", facts.href("costs")),
        Link(team.name, facts.href("costs-team", team.id)),
    ]
    workload = facts.named_workloads.get(line.workload_id or 0)
    if workload:
        trail.append(Link(workload.name, facts.href("costs-workload", workload.id)))
    if facts.job:
        href = facts.href("costs-job", facts.job.id)
        trail.append(Link(f"Job {facts.job.raw_id}", href))
    return tuple(trail)


def about_line(facts: LineFacts) -> tuple[Detail, ...]:
    """Return the details of what a line says and what it rests on."""
    return tuple(_line_details(facts))


def about_charge(facts: LineFacts) -> tuple[Detail, ...]:
    """The charge it is a part of, and the settlement that divided it."""
    return tuple(_charge_details(facts))


def _line_details(facts: LineFacts) -> Iterator[Detail]:
    line = facts.behind
    state = state_words(state_key(line.state))
    yield Detail("State", state.label, state.explanation)
    for basis in (Basis.EFFECTIVE, Basis.CONTRACTED, Basis.LIST, Basis.BILLED):
        word = basis_words(str(basis))
        amount = line.micros[basis]
        text = "not known" if amount is None else full_amount(amount, facts.asked.currency)
        yield Detail(f"{word.label} cost", text, word.explanation)
    for key in evidence_keys(line.evidence):
        yield Detail("Evidence", evidence_words(key).label, evidence_words(key).explanation)
    for flag in flags_in_words(line.flags):
        yield Detail("Note", flag.label, flag.explanation)
    yield from _held_details(facts)
    yield from _owner_details(facts)


def _held_details(facts: LineFacts) -> Iterator[Detail]:
    for fact in facts.held:
        span = f"{instant(fact.held_from, facts.zone)} to {instant(fact.held_to, facts.zone)}"
        yield Detail("Held", f"{_held_units(facts, fact)}, {span}", _which_units(facts, fact))


def _held_units(facts: LineFacts, fact: HeldFact) -> str:
    """Return what was held in the unit that the pool is measured in, as the scheduler said it."""
    if facts.pool is None or not facts.pool.counts_cores:
        return f"{fact.gpus} GPUs" if fact.gpus != 1 else "1 GPU"
    if fact.cpus is None:
        return "cores, how many is not known"
    return f"{fact.cpus} cores" if fact.cpus != 1 else "1 core"


def _which_units(facts: LineFacts, fact: HeldFact) -> str:
    if facts.pool and facts.pool.counts_cores:
        return "of the node"
    if fact.device_uuids is not None:
        return "the scheduler granted them by name; they are listed below"
    return "of the node, which ones is not known"


def _owner_details(facts: LineFacts) -> Iterator[Detail]:
    line = facts.behind
    team = facts.teams[line.team_id]
    yield Detail("Team", team.name, _owner_reason(facts), facts.href("costs-team", team.id))
    workload = facts.named_workloads.get(line.workload_id or 0)
    if workload:
        href = facts.href("costs-workload", workload.id)
        yield Detail("Workload", workload.name, workload.kind, href)
    elif line.job_id is not None:
        yield Detail("Workload", "none", "The rule names no workload.")
    if facts.rule and facts.asked.context.viewer.sees_team(facts.rule.rule.team_id):
        rule = facts.rule
        yield Detail(
            "Ownership rule",
            f"Priority {rule.rule.priority}: {rule_in_words(rule.rule, facts.clusters)}",
            f"in force {in_force(rule.starts_at, rule.ends_at, facts.zone)}",
            facts.asked.context.onward(reverse("rule", args=[rule.rule.id])),
        )


def _owner_reason(facts: LineFacts) -> str:
    line, pool, fact = facts.behind, facts.pool, facts.rule
    if line.job_id is None:
        owner = pool.owner_team_id if pool else None
        if owner == line.team_id:
            return "No job held it, and this team owns the pool."
        return "No job held it, and the pool has no owner team."
    if fact is None:
        return "No ownership rule matches the job."
    rule_owner = (fact.rule.team_id, fact.rule.workload_id)
    if rule_owner != (line.team_id, line.workload_id):
        return "By an ownership rule that has changed since; the hour waits to be settled again."
    return "The job’s ownership rule names it."


def _charge_details(facts: LineFacts) -> Iterator[Detail]:
    line = facts.behind
    kind = KINDS.get(line.kind, line.kind.replace("_", " "))
    where = f"node {line.node} of pool {facts.pool.name}" if line.node and facts.pool else ""
    yield Detail("Charge", f"{kind}, {instant(line.hour, facts.zone)}", where)
    if line.charged is not None:
        amount = line.charged[facts.basis]
        text = "no price" if amount is None else full_amount(amount, facts.asked.currency)
        yield Detail(f"{basis_words(str(facts.basis)).label} cost of all of it", text)
    yield from _owned_details(facts)
    if line.shared_by:
        yield Detail("Shared cost", line.shared_cost, f"Spread {line.shared_by}.")
    status = status_words(line.status)
    status_reason = "" if line.shared_by else line.status_reason.rstrip(".")
    why = (
        f"{status.explanation} {status_reason[0].upper()}{status_reason[1:]}."
        if status_reason
        else status.explanation
    )
    yield Detail("Status", status.label, why)
    yield Detail(
        "As of",
        instant(line.through, facts.zone),
        "The charge covers its hour up to then.",
    )
    if line.version is not None:
        number = "provisional" if not line.version else f"version {line.version}"
        yield Detail("Settlement", number, line.reason)
        yield Detail("Settled", instant(line.settled_at, facts.zone))
    if line.policy_version is not None:
        yield Detail(
            "Share policy", f"version {line.policy_version} of the pool", _policy_words(facts)
        )


def _owned_details(facts: LineFacts) -> Iterator[Detail]:
    """Fully loaded stands above; this is what the hour added to what was owed anyway."""
    line = facts.behind
    if line.owned_plan_id is None or line.marginal_micros is None:
        return
    yield Detail(
        "Marginal cost of all of it",
        full_amount(line.marginal_micros, facts.asked.currency),
        "Its power: what the hour added to what is owed for the hardware anyway.",
    )
    yield Detail(
        "Hardware",
        line.owned_plan,
        "The plan that pays for the node.",
        reverse("owned-plan", args=[line.owned_plan_id]),
    )


def _policy_words(facts: LineFacts) -> str:
    full_gpu = "A whole GPU counts as 1"
    if facts.policy is None:
        return f"{full_gpu}; how slices counted then has been replaced since."
    slices = f"{full_gpu}, a slice as {POLICIES[facts.policy.rule]}"
    if not facts.policy.core_weight:
        return f"{slices}."
    return f"{slices}, each of {facts.policy.cores_per_node} cores as {float(facts.policy.core_weight):g}."
