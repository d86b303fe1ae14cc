"""What the agent of one node may say of a job: what is held on its node, and no more of others'.

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
    """What is kept of a node's statement: None where it is refused; `refusal` says why of a {job}.

    `contradicted` names what it says of the job otherwise than those who told of it before.
    """

    statement: JobStatement | None
    refusal: str = ""
    contradicted: tuple[str, ...] = ()


def word_of_node(told: JobStatement, kept: Sequence[JobStatement]) -> NodeWord:
    """Return what counts of a statement of `told.node`, beside all that is kept of its raw id.

    `kept` is in the order in which it came.
    """
    node = told.node or ""
    if told in kept or all(_speaks_only_of(each, node) for each in kept):
        return NodeWord(told)
    # What goes on beside an end of the first node joins as a word of its node alone.
    mine = _attempt_of(told, kept) or _attempt_of(replace(told, is_of_node_alone=True), kept)
    word = _opened(told, kept) if mine is None else _joined(told, mine, kept)
    if word.statement is None:
        return word
    if _moves_others(word.statement, kept, is_new=mine is None):
        return NodeWord(None, "it would move what others reported of job {job}", word.contradicted)
    return word


def _opened(told: JobStatement, kept: Sequence[JobStatement]) -> NodeWord:
    """A statement that falls into no attempt: of a raw id that others hold it says nothing new."""
    node = told.node or ""
    before = attempts(kept)
    if not told.allocations and not any(_takes_part(one.statements, node) for one in before):
        return NodeWord(None, NOT_THERE)
    for attempt in before:
        if _is_over(attempt, told) or not _others_nodes(attempt.statements, node):
            continue
        if not _is_same_work(told, attempt):
            wrong = _contradicted(told, attempt.statements)
            return NodeWord(None, OF_OTHERS, wrong)
    return NodeWord(told)


def _is_same_work(told: JobStatement, attempt: Attempt) -> bool:
    """Whether it can be the next attempt of a job whose end its other node did not tell yet.

    A scheduler that starts a job again leaves it its owner.
    """
    if told.submitted_at not in (None, attempt.submitted_at):
        return False
    said = _facts(told)
    known = {key: value for each in attempt.statements for key, value in _facts(each).items()}
    is_named = any(name in said and said[name] == known.get(name) for name in OWNER_NAMES)
    return is_named and set(_contradicted(told, attempt.statements)) <= {"restart_count"}


def _joined(
    told: JobStatement, mine: Sequence[JobStatement], kept: Sequence[JobStatement]
) -> NodeWord:
    """A statement of an attempt that others told of too."""
    node = told.node or ""
    placed = _placed_by_scheduler(mine)
    is_placed = any(is_same_machine(name, node) for name in placed)
    if placed and not is_placed:
        return NodeWord(None, "the scheduler places job {job} on other nodes")
    takes_part = is_placed or _takes_part(mine, node)
    if not takes_part and not told.allocations and not _is_of_unknown_agents(mine):
        return NodeWord(None, NOT_THERE)
    others = _others_nodes(mine, node)
    beside = mine if others else [each for each in mine if not _speaks_only_of(each, node)]
    wrong = _contradicted(told, beside)
    if wrong and not takes_part:
        return NodeWord(None, OF_OTHERS, wrong)
    teller = _first_agent(mine, kept)
    is_first = teller is None or is_same_machine(teller, node)
    if is_first and not (wrong and others):
        return NodeWord(told, contradicted=wrong)
    return NodeWord(_of_node_alone(told, mine), contradicted=wrong)


def _of_node_alone(told: JobStatement, mine: Iterable[JobStatement]) -> JobStatement:
    """The statement without what it says of the job."""
    is_known = any(told.submitted_at == each.submitted_at for each in mine)
    return JobStatement(
        kind=told.kind,
        at=told.at,
        source=told.source,
        submitted_at=told.submitted_at if is_known else None,
        restart_count=told.restart_count,
        started_at=told.started_at,
        state=told.state if told.is_terminal else None,
        allocations=told.allocations,
        node=told.node,
        is_of_node_alone=True,
    )


def _attempt_of(
    told: JobStatement, kept: Sequence[JobStatement]
) -> tuple[JobStatement, ...] | None:
    """The kept statements of the attempt that this one falls into; None: of none."""
    for attempt in attempts([*kept, told]):
        if told in attempt.statements:
            return tuple(each for each in attempt.statements if each != told) or None
    return None


def _moves_others(word: JobStatement, kept: Sequence[JobStatement], *, is_new: bool) -> bool:
    """Whether an attempt that others speak of would become another one by this."""
    after = {
        frozenset(one.statements) - {word}: (one.submitted_at, one.opened_at, one.restart_count)
        for one in attempts([*kept, word])
    }
    if is_new != (frozenset() in after):
        return True
    return any(
        after.get(frozenset(one.statements)) != (one.submitted_at, one.opened_at, one.restart_count)
        for one in attempts(kept)
        if not all(_speaks_only_of(each, word.node or "") for each in one.statements)
    )


def _contradicted(told: JobStatement, others: Sequence[JobStatement]) -> tuple[str, ...]:
    """The fields, labels by name, in which it says otherwise than these."""
    said = _facts(told)
    known: dict[str, object] = {}
    for each in in_order(each for each in others if not each.is_of_node_alone):
        known |= _facts(each)
    # Of an attempt with a submission of its own an accounting counts restarts anew, a node goes on.
    counts_anew = {"restart_count"} if told.submitted_at is None else set()
    return tuple(
        name
        for name in said
        if name in known and said[name] != known[name] and name not in counts_anew
    )


def _facts(statement: JobStatement) -> Mapping[str, object]:
    names = ("submitted_at", "restart_count", *(text for text in TEXTS if text != "exit_code"))
    facts = {name: getattr(statement, name) for name in (*names, "run")}
    facts |= {f"labels.{key}": value for key, value in statement.labels}
    return {name: value for name, value in facts.items() if value is not None}


def _placed_by_scheduler(mine: Iterable[JobStatement]) -> frozenset[str]:
    return holding_nodes(in_order(each for each in mine if each.source is not JobSource.AGENT))


def _names_of(statement: JobStatement) -> set[str]:
    said = {one.node for one in statement.allocations or ()}
    return said if statement.node is None else said | {statement.node}


def _takes_part(statements: Iterable[JobStatement], node: str) -> bool:
    return any(is_same_machine(name, node) for each in statements for name in _names_of(each))


def _others_nodes(statements: Iterable[JobStatement], node: str) -> bool:
    return any(not is_same_machine(name, node) for each in statements for name in _names_of(each))


def _speaks_only_of(statement: JobStatement, node: str) -> bool:
    """Whether this node's own agent said it."""
    return statement.node is not None and is_same_machine(statement.node, node)


def _is_of_unknown_agents(statements: Iterable[JobStatement]) -> bool:
    """Whether agents alone told, of no node: before it was kept which node's agent tells."""
    return all(each.source is JobSource.AGENT and not _names_of(each) for each in statements)


def _first_agent(mine: Iterable[JobStatement], kept: Iterable[JobStatement]) -> str | None:
    """The node whose agent told of the job first."""
    whole = {each for each in mine if each.node is not None and not each.is_of_node_alone}
    return next((each.node for each in kept if each in whole), None)


def _is_over(attempt: Attempt, told: JobStatement) -> bool:
    end = end_of(in_order(attempt.statements))
    return end is not None and end.at < told.at
