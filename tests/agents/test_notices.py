"""A cloud's notice becomes an event that says when the node goes, once."""

import time
from collections.abc import Mapping

import pytest

from runrate_agent.reclaim import Notice, Notices

TEN_PAST_MS = 1_795_169_400_000  # 2026-11-20T10:10:00Z


class Cloud:
    """Announces what it is told to."""

    name = "aws"

    def __init__(self, at: str) -> None:
        self.at = at

    def facts(self) -> Mapping[str, str]:
        return {"purchase_option": "spot"}

    def notice(self) -> Notice | None:
        return Notice("terminate", self.at)


@pytest.mark.parametrize(
    "text", ["2026-11-20T10:10:00Z", "2026-11-20T12:10:00+02:00", "2026-11-20T10:10:00"]
)
def test_a_notice_says_when_the_node_goes_and_is_told_once(text: str) -> None:
    notices = Notices(Cloud(text))
    notices.look()
    notices.look()
    (event,) = notices.taken()
    assert (event.kind, event.ends_at_ms) == ("reclaim_notice", TEN_PAST_MS)
    assert notices.taken() == []


@pytest.mark.parametrize("text", ["", "soon"])
def test_a_notice_without_a_moment_is_for_now(text: str) -> None:
    notices = Notices(Cloud(text))
    notices.look()
    (event,) = notices.taken()
    assert abs((event.ends_at_ms or 0) - time.time_ns() // 1_000_000) < 5_000
