"""The demo of all its weeks: settled, proven, and with something on every page of the walk."""

from pathlib import Path

import pytest

from tests.journeys.test_demo import last_line, manage

pytestmark = [pytest.mark.proof, pytest.mark.xdist_group("demo")]

STAYS_EMPTY = {"/search"}
"""Nothing is asked for yet."""


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict]:
    home = tmp_path_factory.mktemp("weeks") / "home"
    return home, last_line(
        manage(home, "demo", "--no-serve", "--json", "--weeks", "13", timeout=3600)
    )


def test_thirteen_weeks_add_up_and_two_months_are_closed(filled):
    home, figures = filled
    assert (figures["gpus"] > 84, figures["residual_micros"]) == (True, 0)
    assert 0.95 < figures["coverage"] < 1

    proof = last_line(manage(home, "audit_ledger", "--json"))
    assert (proof["residual_micros"], proof["missing"], proof["places"]) == (0, 0, [])
    assert len(proof["closed_months"]) >= 2
    assert last_line(manage(home, "settle", "--json"))["pending"] == 0


def test_no_page_of_the_walk_is_empty(filled):
    home, _ = filled
    said = "from tests.journeys.demo_pages import tell; tell()"
    pages = last_line(manage(home, "shell", "--no-imports", "-c", said))
    assert len(pages) >= 40
    assert {address: status for address, (status, _) in pages.items() if status != 200} == {}
    empty = {address: titles for address, (_, titles) in pages.items() if titles}
    assert {each: empty[each] for each in empty if each not in STAYS_EMPTY} == {}
