"""Whatever changes data writes a line."""

import inspect
import re
from collections.abc import Iterator
from typing import Any

from deploy.write_event_page import public_actions
from tests.architecture.python_sources import PythonSource, python_sources

BELOW_EDGES = {"actions", "queries", "models", "migrations", "economics", "show", "providers"}
WITHOUT_A_LINE = {
    "apps.accounts.actions.audit.changes_by": "says who; changes nothing",
    "apps.accounts.actions.audit.name_changer": "says who; changes nothing",
    "apps.accounts.actions.repeats.find_stored_answer": "asks whether a request was answered before",
    "apps.accounts.actions.repeats.keep_answer": "part of the request whose change has its line",
    "apps.accounts.actions.tokens.touch_token": "when a token was last used: a sign of life",
    "apps.accounts.actions.tokens.touch_tokens": "when tokens were last used: a sign of life",
    "apps.fleet.actions.clouds.keep_page": "how far a reading is: part of run_sync",
    "apps.fleet.actions.enrolment.record_heartbeats": "when agents were last heard: a sign of life",
    "apps.fleet.actions.inventory.open_cluster": "calls add_cluster, which has its line",
    "apps.ledger.actions.exports.record_export_progress": "how far an export is: a sign of life",
    "apps.ledger.actions.settle.try_pass": "calls the pass, which has its line",
    "apps.ledger.actions.settle.settle_window": "calls passes, which have their lines",
    "apps.placement.actions.books.make_offer_book_if_due": "calls make_offer_book, which has its line",
    "apps.planning.actions.forecasts.make_forecasts_if_due": "calls make_forecasts, which has its line",
    "apps.planning.actions.crossover.run_due_scenarios": "calls run_scenario, which has its line",
    "apps.planning.actions.portfolio.answer_portfolios": "calls answer_portfolio, which has its line",
    "apps.planning.actions.portfolio.request_weekly_portfolio": "calls ask_portfolio, which has its line",
    "apps.pricing.actions.api_prices.book_vendor": "called by the ledger's, which has its line",
    "apps.review.actions.level_detection.detect_anomalies_if_due": "calls look_at_day, which has its line",
    "apps.telemetry.actions.interning.remember": "fills a memory of this process",
}


def sources() -> Iterator[PythonSource]:
    return (each for each in python_sources() if each.path.parts[0] in {"apps", "controlplane"})


def called_from_edges() -> set[str]:
    """Actions that take `at` or an id by keyword and that doors, tasks, pages or commands name."""
    by_room: dict[str, set[str]] = {}
    for source in sources():
        if BELOW_EDGES & {*source.path.parts, source.path.stem}:
            continue
        for module in source.imported_from:
            room = ".".join(module.split(".")[:2])
            by_room.setdefault(room, set()).update(source.names)
    return {
        where
        for where, action in public_actions().items()
        if is_keyword_only(action)
        and action.__name__ in by_room.get(".".join(where.split(".")[:2]), set())
    }


def is_keyword_only(action: Any) -> bool:
    """As the house writes a change; what only asks or checks takes its argument by place."""
    kinds = {each.kind for each in inspect.signature(action).parameters.values()}
    return kinds == {inspect.Parameter.KEYWORD_ONLY}


def reads_only(action: Any) -> bool:
    """What looks, checks or says: it has nothing to tell."""
    return re.match(r"check_|refuse_|\w+_to_forget$|\w+_due$|still_", action.__name__) is not None


def test_every_change_that_can_be_asked_for_writes_a_line() -> None:
    silent = {
        where
        for where in called_from_edges()
        if not hasattr(public_actions()[where], "event") and not reads_only(public_actions()[where])
    }
    assert silent - WITHOUT_A_LINE.keys() == set()


def test_what_writes_no_line_is_still_there() -> None:
    assert WITHOUT_A_LINE.keys() <= public_actions().keys()


def test_no_action_writes_a_line_by_hand() -> None:
    by_hand = [
        str(source.path)
        for source in sources()
        if "actions" in source.path.parts and "structlog" in source.text
    ]
    assert by_hand == []


def test_events_are_words_in_snake_case() -> None:
    events = {action.event for action in public_actions().values() if hasattr(action, "event")}
    odd = [event for event in events if not event.islower()]
    assert odd == []


def test_a_line_by_hand_is_an_event_and_its_fields() -> None:
    lines = [
        (f"{source.path}:{lineno}", text, values)
        for source in sources()
        if source.room != "logs"
        for lineno, text, values in source.log_lines
    ]
    assert len(lines) > 10
    unlike = [
        where
        for where, text, values in lines
        if not re.fullmatch(r"[a-z_]+( [a-z_]+=%s)*", text) or text.count("%s") != values
    ]
    assert unlike == []
