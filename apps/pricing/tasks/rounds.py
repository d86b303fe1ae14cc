"""One reading of all parts of something: which are done, how many of what, where to go on."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from apps.fleet.actions import clouds

GOES_ON_FOR = timedelta(hours=1)
"""A reading that broke off longer ago begins anew: what its first parts said may have changed."""

Clock = Callable[[], datetime]


@dataclass(slots=True)
class Round:
    """A reading since `began_at`; `done` parts are not read again, `token` is inside the next."""

    turn: clouds.SyncTurn
    clock: Clock
    began_at: datetime
    done: list[str] = field(default_factory=list)
    token: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    odd: list[str] = field(default_factory=list)

    def left(self, parts: Iterable[str]) -> Iterator[str]:
        """Those not done yet; each is done, and that kept, when the next is asked for."""
        for part in parts:
            if part in self.done:
                continue
            yield part
            self.done.append(part)
            self.token = ""
            self.keep()

    def keep(self) -> None:
        """Remember how far it is."""
        cursor = {"began": self.began_at.isoformat(), "done": self.done, "token": self.token}
        clouds.keep_page(turn=self.turn, cursor=cursor, counts=self.counts, at=self.clock())

    def over(self) -> str:
        """All of it was read: the next time begins from the first again. Answers what was odd."""
        clouds.keep_page(turn=self.turn, cursor={}, counts=self.counts, at=self.clock())
        return "; ".join(dict.fromkeys(self.odd))

    def count(self, what: str, by: int = 1) -> None:
        """So many more of it."""
        self.counts[what] = self.counts.get(what, 0) + by


def round_of(turn: clouds.SyncTurn, clock: Clock, *counted: str) -> Round:
    """The reading that broke off within the hour, or a new one."""
    at = clock()
    counts = dict.fromkeys(counted, 0)
    held = turn.cursor
    if "began" in held and at - datetime.fromisoformat(held["began"]) < GOES_ON_FOR:
        began_at = datetime.fromisoformat(held["began"])
        return Round(turn, clock, began_at, list(held["done"]), held["token"], counts)
    return Round(turn, clock, at, counts=counts)
