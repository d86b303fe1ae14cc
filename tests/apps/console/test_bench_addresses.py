"""The bench of the pages knows every address of the console, and says what it does not before it seeds."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.urls import path

from bench import pages, pages_addresses
from bench.pages_addresses import SeededRow, console_addresses, faults_of_addresses

ROOT = Path(__file__).resolve().parents[3]


def test_every_address_of_the_console_can_be_asked_for() -> None:
    assert len(console_addresses()) > 250
    assert faults_of_addresses() == []


def test_an_address_with_a_parameter_that_is_new_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from apps.console import urls

    added = path("whales/<int:whale_id>", lambda request: None, name="whale")  # type: ignore[arg-type,return-value]
    monkeypatch.setattr(urls, "urlpatterns", [*urls.urlpatterns, added])
    monkeypatch.setattr(
        pages_addresses, "console_addresses", lambda: {"whales/<int:whale_id>": "whale"} | ADDRESSES
    )
    (fault,) = faults_of_addresses()
    assert fault.startswith("/whales/<int:whale_id>: name 'whale_id'")


ADDRESSES = console_addresses()


@pytest.mark.parametrize(
    ("planted", "words"),
    [
        (SeededRow("review.Whale"), "Whale"),
        (SeededRow("review.Alert", {"no_such": 1}), "no_such"),
        (SeededRow("review.Alert", {}, False, "no_such"), "no_such"),
    ],
)
def test_a_row_that_is_called_otherwise_by_now_is_named(
    planted: Any, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(pages_addresses.PLANTED, "alert_id", planted)
    (fault,) = faults_of_addresses()
    assert words in fault


def test_what_no_address_has_any_more_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(pages_addresses.PLANTED, "whale_id", "7")
    monkeypatch.setitem(pages_addresses.ASKED_SO, "whales", ("?q=1",))
    assert [fault.split(":")[0] for fault in faults_of_addresses()] == [
        "'whale_id' is in no address",
        "no page is called 'whales'",
    ]


def test_nothing_is_seeded_where_a_page_cannot_be_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun: list[str] = []

    def run(url: str, module: str, *arguments: str) -> dict[str, Any]:
        begun.append(f"{module} {' '.join(arguments)}")
        raise subprocess.CalledProcessError(1, sys.executable)

    monkeypatch.setenv("RUNRATE_DATABASE_URL", "postgres://postgres@/runrate?host=nowhere")
    monkeypatch.setattr(pages, "python", run)
    with pytest.raises(SystemExit):
        pages.run()
    assert begun == ["bench.pages_ask 0"]
