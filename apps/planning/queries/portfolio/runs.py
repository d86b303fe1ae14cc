"""The portfolios that were asked for, the newest first."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from apps.accounts.queries import person_names
from apps.planning.models import PortfolioRun, PortfolioState
from apps.show.entries import Entry

DONE, REFUSED = str(PortfolioState.DONE), str(PortfolioState.REFUSED)
STATES = tuple(str(state) for state in PortfolioState)
STATE_WORDS = {
    "waiting": "waits",
    "running": "under way",
    "done": "done",
    "refused": "refused",
    "cancelled": "called off",
}
OPEN = (str(PortfolioState.WAITING), str(PortfolioState.RUNNING))


@dataclass(frozen=True, slots=True)
class PortfolioRunFact:
    """A run; see the table for what each field is. `answer` is None until it is done, and in lists."""

    id: int
    asked_at: datetime
    asked_by_id: int | None
    is_weekly: bool
    overlay: dict[str, Any]
    text: str
    state: Annotated[str, Entry(choices=STATES)]
    found: Annotated[int, Entry(help="mixes found so far")]
    of: Annotated[int, Entry(help="mixes that an answer takes at most")]
    ended_at: datetime | None
    refusal: str
    digest: Annotated[str, Entry(help="SHA-256 of the question and its histories")]
    answer: dict[str, Any] | None = None

    @property
    def asked_by(self) -> str:
        """The name of who asked; empty of nobody."""
        return "" if self.asked_by_id is None else person_names()[self.asked_by_id]

    @property
    def is_open(self) -> bool:
        """Whether it is still to be answered."""
        return self.state in OPEN


def portfolio_runs() -> list[PortfolioRunFact]:
    """All that are kept, without their answers."""
    rows = PortfolioRun.objects.order_by("-asked_at", "-id").defer("answer")
    return [_run_fact(row, None) for row in rows]


def portfolio_run(run_id: int) -> PortfolioRunFact | None:
    """One with its answer; None where there is none."""
    row = PortfolioRun.objects.filter(id=run_id).first()
    return None if row is None else _run_fact(row, row.answer)


def latest_portfolio() -> PortfolioRunFact | None:
    """The newest that is done, with its answer."""
    done = PortfolioRun.objects.filter(state=DONE).order_by("-asked_at", "-id")
    row = done.first()
    return None if row is None else _run_fact(row, row.answer)


def _run_fact(row: PortfolioRun, answer: dict[str, Any] | None) -> PortfolioRunFact:
    names = [name for name in PortfolioRunFact.__slots__ if name != "answer"]
    return PortfolioRunFact(**{name: getattr(row, name) for name in names}, answer=answer)
