"""Kinds of questions: a table of what waits, how it is found, and what answers it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Generic, NamedTuple, TypeVar

from apps.accounts.queries import Role
from apps.console.kit.cells import unseen
from apps.console.kit.frame import Step
from apps.console.kit.request import MANAGES
from apps.console.kit.table import Table
from apps.fleet import queries as fleet
from apps.ledger import queries as ledger
from apps.workloads import queries as workloads

PER_PAGE = 50
ANSWER = unseen("Answer")

Row = TypeVar("Row")


class QuestionScope(NamedTuple):
    """When is asked, of which days, the pools, and the names of nodes that nobody bears."""

    at: datetime
    window: ledger.Window
    pools: Mapping[int, fleet.PoolFact]
    names: Sequence[workloads.UnknownNodeName]


# Without slots, as Table is.
@dataclass(frozen=True)
class QuestionKind(Generic[Row]):
    """Things of one kind that wait, in a table whose title says how many; its last column answers.

    `step` says what else answers it. What is not `asked_about` may be answered and does not wait.
    Only people of `answered_by` can answer it here.
    """

    key: str
    table: Table[Row]
    find: Callable[[QuestionScope], Sequence[Row]]
    step: Callable[[Sequence[Row]], Step | None] = lambda _: None
    asked_about: bool = True
    answered_by: frozenset[Role] = MANAGES

    @property
    def csv_name(self) -> str:
        """The name of its file."""
        return self.key.replace("_", " ")

    def asked(self, *, may_answer: bool) -> Table[Row]:
        """Its table; who may not answer has no button."""
        columns = (column for column in self.table.columns if may_answer or column.text != ANSWER)
        answerer = "you confirm" if may_answer else "somebody of the role platform confirms"
        return replace(
            self.table, columns=tuple(columns), about=self.table.about.replace("{who}", answerer)
        )
