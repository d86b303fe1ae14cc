"""The statements that one node's agent may make of a job: what is held on its node, and no more of others'.

The rule of decision 0228. Whoever tells first of a job says whose it is. A node's agent may correct
that while no other node takes part; beside others it adds and ends what is held on its own node.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from apps.economics.job_attempts import Attempt, attempts
from apps.economics.job_fold import TEXTS
from apps.economics.job_order import end_of, holding_nodes, in_order
from apps.economics.jobs import JobSource, JobStatement
from apps.economics.machines import is_same_machine

OWNER_NAMES = ("user", "account", "namespace")
NOT_THERE = "nothing places job {job} there"
OF_OTHERS = "another node holds job {job} and reports otherwise"


@dataclass(frozen=True, slots=True)
class NodeWord:
    """The part kept of a node's statement: None where it is refused; `refusal` says why of a {job}.

    `contradicted` names what it says of the job otherwise than those who told of it before.
    """

    statement: JobStatement | None
    refusal: str = ""
    contradicted: tuple[str, ...] = ()


def word_of_node(report: JobStatement, history: Sequence[JobStatement]) -> NodeWord:
    """Return what counts of a statement of `told.node`, beside all that is kept of its raw id.

    `history` is in the order in which it came.
    """
    node = report.node or ""
    if report in history or all(_speaks_only_of(statement, node) for statement in history):
        return NodeWord(report)
    # What goes on beside an end of the first node joins as a word of its node alone.
    mine = _attempt_of(report, history) or _attempt_of(
        replace(report, is_of_node_alone=True), history
    )
    word = _opened(report, history) if mine is None else _joined(report, mine, history)
    if word.statement is None:
        return word
    if _moves_others(word.statement, history, is_new=mine is None):
        return NodeWord(None, "it would move what others reported of job {job}", word.contradicted)
    return word


def _opened(report: JobStatement, history: Sequence[JobStatement]) -> NodeWord:
    """A statement that falls into no attempt: of a raw id that others hold it says nothing new."""
    node = report.node or ""
    before = attempts(history)
    if not report.allocations and not any(_takes_part(one.statements, node) for one in before):
        return NodeWord(None, NOT_THERE)
    for attempt in before:
        if _is_over(attempt, report) or not _others_nodes(attempt.statements, node):
            continue
        if not _is_same_work(report, attempt):
            wrong = _contradicted(report, attempt.statements)
            return NodeWord(None, OF_OTHERS, wrong)
    return NodeWord(report)


def _is_same_work(report: JobStatement, attempt: Attempt) -> bool:
    """Whether it can be the next attempt of a job whose end its other node did not tell yet.

    A scheduler that starts a job again leaves it its owner.
    """
    if report.submitted_at not in (None, attempt.submitted_at):
        return False
    facts = _facts(report)
    known_facts = {
        key: value for statement in attempt.statements for key, value in _facts(statement).items()
    }
    is_named = any(name in facts and facts[name] == known_facts.get(name) for name in OWNER_NAMES)
    return is_named and set(_contradicted(report, attempt.statements)) <= {"restart_count"}


def _joined(
    report: JobStatement, mine: Sequence[JobStatement], history: Sequence[JobStatement]
) -> NodeWord:
    """A statement of an attempt that others told of too."""
    node = report.node or ""
    placed = _placed_by_scheduler(mine)
    is_placed = any(is_same_machine(name, node) for name in placed)
    if placed and not is_placed:
        return NodeWord(None, "the scheduler places job {job} on other nodes")
    takes_part = is_placed or _takes_part(mine, node)
    if not takes_part and not report.allocations and not _is_of_unknown_agents(mine):
        return NodeWord(None, NOT_THERE)
    others = _others_nodes(mine, node)
    compared_statements = (
        mine
        if others
        else [statement for statement in mine if not _speaks_only_of(statement, node)]
    )
    wrong = _contradicted(report, compared_statements)
    if wrong and not takes_part:
        return NodeWord(None, OF_OTHERS, wrong)
    teller = _first_agent(mine, history)
    is_first = teller is None or is_same_machine(teller, node)
    if is_first and not (wrong and others):
        return NodeWord(report, contradicted=wrong)
    return NodeWord(_of_node_alone(report, mine), contradicted=wrong)


def _of_node_alone(report: JobStatement, mine: Iterable[JobStatement]) -> JobStatement:
    """The statement without what it says of the job."""
    is_known = any(report.submitted_at == statement.submitted_at for statement in mine)
    return JobStatement(
        kind=report.kind,
        at=report.at,
        source=report.source,
        submitted_at=report.submitted_at if is_known else None,
        restart_count=report.restart_count,
        started_at=report.started_at,
        state=report.state if report.is_terminal else None,
        allocations=report.allocations,
        node=report.node,
        is_of_node_alone=True,
    )


def _attempt_of(
    report: JobStatement, history: Sequence[JobStatement]
) -> tuple[JobStatement, ...] | None:
    """The kept statements of the attempt that this one falls into; None: of none."""
    for attempt in attempts([*history, report]):
        if report in attempt.statements:
            return (
                tuple(statement for statement in attempt.statements if statement != report) or None
            )
    return None


def _moves_others(word: JobStatement, history: Sequence[JobStatement], *, is_new: bool) -> bool:
    """Whether an attempt that others speak of would become another one by this."""
    after = {
        frozenset(one.statements) - {word}: (one.submitted_at, one.opened_at, one.restart_count)
        for one in attempts([*history, word])
    }
    if is_new != (frozenset() in after):
        return True
    return any(
        after.get(frozenset(one.statements)) != (one.submitted_at, one.opened_at, one.restart_count)
        for one in attempts(history)
        if not all(_speaks_only_of(statement, word.node or "") for statement in one.statements)
    )


def _contradicted(report: JobStatement, others: Sequence[JobStatement]) -> tuple[str, ...]:
    """The fields, labels by name, in which it says otherwise than these."""
    facts = _facts(report)
    known_facts: dict[str, object] = {}
    for statement in in_order(other for other in others if not other.is_of_node_alone):
        known_facts |= _facts(statement)
    # Of an attempt with a submission of its own an accounting counts restarts anew, a node goes on.
    counts_anew = {"restart_count"} if report.submitted_at is None else set()
    return tuple(
        name
        for name in facts
        if name in known_facts and facts[name] != known_facts[name] and name not in counts_anew
    )


def _facts(statement: JobStatement) -> Mapping[str, object]:
    names = ("submitted_at", "restart_count", *(text for text in TEXTS if text != "exit_code"))
    facts = {name: getattr(statement, name) for name in (*names, "run")}
    facts |= {f"labels.{key}": value for key, value in statement.labels}
    return {name: value for name, value in facts.items() if value is not None}


def _placed_by_scheduler(mine: Iterable[JobStatement]) -> frozenset[str]:
    return holding_nodes(
        in_order(statement for statement in mine if statement.source is not JobSource.AGENT)
    )


def _names_of(statement: JobStatement) -> set[str]:
    names = {one.node for one in statement.allocations or ()}
    return names if statement.node is None else names | {statement.node}


def _takes_part(statements: Iterable[JobStatement], node: str) -> bool:
    return any(
        is_same_machine(name, node) for statement in statements for name in _names_of(statement)
    )


def _others_nodes(statements: Iterable[JobStatement], node: str) -> bool:
    return any(
        not is_same_machine(name, node) for statement in statements for name in _names_of(statement)
    )


def _speaks_only_of(statement: JobStatement, node: str) -> bool:
    """Whether this node's own agent said it."""
    return statement.node is not None and is_same_machine(statement.node, node)


def _is_of_unknown_agents(statements: Iterable[JobStatement]) -> bool:
    """Whether agents alone told, of no node: before it was kept which node's agent tells."""
    return all(
        statement.source is JobSource.AGENT and not _names_of(statement) for statement in statements
    )


def _first_agent(mine: Iterable[JobStatement], history: Iterable[JobStatement]) -> str | None:
    """The node whose agent told of the job first."""
    full_statements = {
        statement
        for statement in mine
        if statement.node is not None and not statement.is_of_node_alone
    }
    return next((statement.node for statement in history if statement in full_statements), None)


def _is_over(attempt: Attempt, report: JobStatement) -> bool:
    end = end_of(in_order(attempt.statements))
    return end is not None and end.at < report.at
