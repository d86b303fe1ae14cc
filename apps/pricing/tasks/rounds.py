"""One reading of all parts of something: which are done, how many of what, where to go on."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from apps.fleet.actions import clouds

GOES_ON_FOR = timedelta(hours=1)
"""A reading that broke off longer ago begins anew: what its first parts said may have changed."""

Clock = Callable[[], datetime]


@dataclass(slots=True)
class ReadingRound:
    """A reading since `began_at`; `done` parts are not read again, `token` is inside the next."""

    turn: clouds.SyncTurn
    clock: Clock
    began_at: datetime
    done: list[str] = field(default_factory=list)
    token: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    odd: list[str] = field(default_factory=list)

    def part_done(self, part: str) -> None:
        """All of the part was read; a later turn of this round leaves it out."""
        self.done.append(part)
        self.go_on_at("")

    def go_on_at(self, token: str) -> None:
        """Remember how far it is: the part that is read goes on at `token`."""
        self.token = token
        cursor = {"began": self.began_at.isoformat(), "done": self.done, "token": token}
        clouds.keep_page(turn=self.turn, cursor=cursor, counts=self.counts, at=self.clock())

    def over(self) -> str:
        """All of it was read: the next time begins from the first again. Answers what was odd."""
        clouds.keep_page(turn=self.turn, cursor={}, counts=self.counts, at=self.clock())
        return "; ".join(dict.fromkeys(self.odd))

    def count(self, what: str, by: int = 1) -> None:
        """So many more of it."""
        self.counts[what] = self.counts.get(what, 0) + by

    def note(self, text: str) -> None:
        """Something odd, if anything."""
        if text:
            self.odd.append(text)


def round_of(turn: clouds.SyncTurn, clock: Clock, *counted: str) -> ReadingRound:
    """The reading that broke off within the hour, or a new one."""
    at = clock()
    counts = dict.fromkeys(counted, 0)
    cursor = turn.cursor
    if "began" in cursor and at - datetime.fromisoformat(cursor["began"]) < GOES_ON_FOR:
        began_at = datetime.fromisoformat(cursor["began"])
        return ReadingRound(turn, clock, began_at, list(cursor["done"]), cursor["token"], counts)
    return ReadingRound(turn, clock, at, counts=counts)
