"""Nobody reads a name or an amount that is not theirs, at any address, in any form.

The addresses are those of Django's own table, so that a new one is walked as soon as it is there.
"""

import re
from collections.abc import Iterator
from datetime import timedelta
from html import unescape
from itertools import cycle, product
from typing import Any
from urllib.parse import urlencode

import pytest
from django.utils import timezone

from apps.console.kit import waiting
from apps.console.kit.sticky_filters import onward
from bench.pages_ask import counted_statements
from tests.contract.described import document
from tests.markup import faults_of
from tests.scope.addresses import PARAMETER, Address, TeachTheWalker, every_address
from tests.scope.asking import answered, answered_about, body_of, text_of
from tests.scope.world import SECRETS, WHOLE, World

pytestmark = pytest.mark.django_db
A_MAIL = "weekly-reviews/<slug:week>/mail"
"""It has its style within, and no frame: it is looked at as it is sent."""
ADDRESSES = [pytest.param(each, id=each.pattern or "overview") for each in every_address()]
ON_PAGES = ("a stranger", "cy", "dee", "ben", "ada", "the token zephyr")
ON_PAGES_BY = {"team", "workload", "q"}
ON_REST = (*ON_PAGES, "the token osprey", "the token jobs", "the token harbour")
in_part_or_whole = pytest.mark.parametrize(
    "is_whole", [False, pytest.param(True, marks=pytest.mark.proof)], ids=["a part", "the whole"]
)
"""Every address is asked, in part not by everybody with everything: that takes minutes."""
BEGUN = (
    "zephyr",
    "windtunnel-l",
    "8804127",
    "pretrain-q",
    "run-kest",
    "6609381",
    "orphaned",
    "petra.r",
)
"""The beginnings of planted names: a name in full would be found in what repeats the question."""
SOUGHT = tuple(f"q={begun}" for begun in BEGUN)
COMPARED = ("run={run_id}&run={other_run_id}",)
NEEDED_QUERIES = {
    "api/v1/costs": ("group_by=team,workload", "group_by=pool,day"),
    "api/v1/api-spend": ("group_by=model,team,feature",),
    "api/v1/placements/slurm-cache": ("cluster=atlas",),
    "api/v1/placements/slurm-weights": ("cluster=atlas",),
    "api/v1/search": SOUGHT,
    "search": SOUGHT,
    "search/suggested": SOUGHT,
    "views/new": ("address=/runs?window=7d",),
    "runs": ("window=90d",),
    "runs/compare": COMPARED,
    "runs/compare.csv": COMPARED,
}
"""What an address must be asked, beside its path, to answer with rows; `{…}` is what is planted."""
TABLES: dict[str, tuple[str, ...]] = {}
"""By address the tables that it has: asked once."""
NOT_SHOWN_YET = {"ns-gusts"}
"""Kept, and on no page that the walk opens: whoever shows them finds them watched already."""
MOST_STATEMENTS = 16
"""What a page or a file may ask the database, session and person included."""
OF_BENS_TEAM = {"Zephyrine", "windtunnel-larks", "pretrain-quill", "acct-plume", "$5,939"}
OF_EVERYBODY = {"ben": ("costs", "api/v1/costs"), "finn": ("people", "account")}
"""Where others than Petra are asked in a part of the walk: she opens everything."""
NOT_PLANTED = 987_654_321
NOBODY_HAS = dict.fromkeys(
    (
        "team_id", "workload_id", "job_id", "run_id", "node_id", "device_id", "pool_id", "rate_id",
        "waiting_id",
        "rule_id", "line_id", "person_id", "token_id", "batch_id", "agent_id", "outage_id",
        "import_id", "series_import_id", "bill_id", "bill_rule_id", "bill_twin_id", "shared_cost_id", "close_id",
        "commitment_id", "account_id", "owned_plan_id", "service_id", "objective_id",
        "api_price_id", "finding_id", "view_id", "chart_note_id", "capacity_request_id", "plan_id", "item_id",
    ),
    NOT_PLANTED,
)  # fmt: skip
ASKING_FOR_NOTHING = ("cy", "dee", "ada", "petra")
MEANINGLESS = ("", "window=never-and-a-day", "team=nobodys-team")
"""Who asks for what is not there, and with what that no address understands."""
FILTERS = {
    "team": ("Zephyrine", "Zephyrqne"),
    "parent": ("Zephyrine", "Zephyrqne"),
    "owner_team": ("Zephyrine", "Zephyrqne"),
    "workload": ("windtunnel-larks", "windtunnel-lqrks"),
    "account": ("acct-plume", "acct-plqme"),
    "user": ("ottoline", "ottolqne"),
    "run": ("run-kestrel", "run-kqstrel"),
    "q": ("pretrain-quill", "pretrain-qqill"),
    "service": ("answers-kittiwake", "answers-kittiwqke"),
    "job": ("880412771", "880412779"),
    "raw_id": ("880412771", "880412779"),
    "name": ("pretrain-quill", "pretrain-qqill"),
}
"""A name of the Zephyrines' for each filter and search, and one as long that nobody has."""


@pytest.mark.parametrize("address", ADDRESSES)
def test_nobody_reads_what_is_not_theirs(world: World, address: Address) -> None:
    path, told, statuses = address.filled(world.planted), {}, {}
    for (name, form), query in product(askers_of(address), queries_of(address, world)):
        answer = answered(world, name, path, form, query)
        told[f"{name} reads the {form}", query] = world.secrets_in(text_of(answer), name)
        statuses[name, form, query] = answer.status_code
    for name, method in (("a stranger", "options"), ("dee", "options"), ("dee", "head")):
        answer = answered_about(world, name, path, method, form_of(address))
        told[f"{method} by {name}", ""] = world.secrets_in(text_of(answer), name)
        statuses[name, method, ""] = answer.status_code
        assert method == "options" or not answer.content
        assert method == "head" or is_told_methods(answer)
    assert {who: texts for who, texts in told.items() if texts} == {}
    assert {who: status for who, status in statuses.items() if status >= 500} == {}
    plain = statuses.get(("dee", form_of(address), ""))
    assert plain in {None, statuses["dee", "head", ""]}


@in_part_or_whole
def test_a_refusal_repeats_no_name_that_was_not_in_the_question(
    world: World, is_whole: bool
) -> None:
    told, refusals = {}, 0
    for address, (name, query) in asked_for_nothing(is_whole=is_whole):
        path = address.filled({**world.planted, **NOBODY_HAS})
        answer = answered(world, name, path, form_of(address), query)
        if answer.status_code < 400:
            continue
        refusals += 1
        # Even to the platform: what it may read elsewhere, a refusal has no reason to tell.
        told[f"{name} at {path}?{query}"] = world.secrets_in(text_of(answer), "a stranger")
    assert {who: texts for who, texts in told.items() if texts} == {}
    assert refusals > 100


@in_part_or_whole
def test_whoever_may_read_a_secret_finds_it_and_no_page_asks_much(
    world: World, monkeypatch: pytest.MonkeyPatch, is_whole: bool
) -> None:
    # What waits in Setup is counted when an answer is out: once, before the first that is counted.
    monkeypatch.setattr(waiting, "COUNT_AGES", timedelta(days=1))
    answered(world, "finn", "/", "page")
    found, faults = dict.fromkeys(("ben", "finn", "petra"), ""), []
    for address, name in product(every_address(), found):
        if name != "petra" and not is_whole and not address.pattern.startswith(OF_EVERYBODY[name]):
            continue
        form = form_of(address)
        for query in queries_of(address, world):
            with counted_statements() as asked:
                answer = answered(world, name, address.filled(world.planted), form, query)
                found[name] += text_of(answer)
            if asked() > MOST_STATEMENTS and not address.is_rest:
                faults.append(f"/{address.pattern} asks the database {asked()} times for {name}")
            if name == "petra" and (answer.status_code == 400 or answer.status_code >= 500):
                faults.append(f"/{address.pattern} answers {answer.status_code}")
            html = "" if answer.streaming else answer.content.decode(errors="replace")
            is_page = "<html" in html and address.pattern != A_MAIL
            if name == "petra" and answer.status_code == 200 and is_page:
                faults += [f"/{address.pattern} {fault}" for fault in faults_of(html)]
    every_text = {text for texts in SECRETS.values() for text in texts}
    assert faults == []
    assert {text for text in every_text if text not in found["finn"] + found["petra"]} <= (
        NOT_SHOWN_YET
    )
    assert {text for text in OF_BENS_TEAM if text not in found["ben"]} == set()


def test_what_was_chosen_goes_on_with_every_link_of_every_page(world: World) -> None:
    chosen = {"window": "2026-03-03/2026-03-04", "basis": "list"}
    pages, left = 0, []
    for address in (each for each in every_address() if not each.is_rest):
        (query, *_) = queries_of(address, world)
        query = f"{urlencode(chosen)}&{query}"
        answer = answered(world, "petra", address.filled(world.planted), "page", query)
        html = "" if answer.streaming else unescape(answer.content.decode(errors="replace"))
        # A form's address is what fills it in: nothing of it goes on. Nodes have no period.
        is_form = f"/costs?{urlencode(chosen)}" not in html
        if answer.status_code != 200 or is_form or address.pattern.startswith("fleet/"):
            continue
        pages += 1
        hrefs = re.findall(r'href="([^"]*)"', html.partition("<main")[2])
        left += [(address.pattern, href) for href in hrefs if onward(href, chosen) != href]
    assert left == [], "\n".join(map(repr, left))
    assert pages > 40


@in_part_or_whole
def test_a_name_of_others_is_answered_as_one_that_nobody_has(
    world: World, monkeypatch: pytest.MonkeyPatch, is_whole: bool
) -> None:
    # Spans that last until now are told to the second: one clock for each pair of answers.
    asked_at = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: asked_at)
    differing = []
    for place, address in enumerate(every_address()):
        path, (query, *_) = address.filled(world.planted), queries_of(address, world)
        filters, form = filters_of(address), form_of(address)
        if not filters or answered(world, "dee", path, form, query).status_code != 200:
            continue
        for field, taken, free in filters if is_whole else [filters[place % len(filters)]]:
            of_taken = answered(world, "dee", path, form, f"{field}={taken}")
            of_free = answered(world, "dee", path, form, f"{field}={free}")
            if body_of(of_taken).replace(taken, free) != body_of(of_free):
                differing.append(f"{path}?{field}={taken}")
    assert differing == []


def test_an_address_that_asks_for_something_new_fails_until_the_walk_knows_it() -> None:
    with pytest.raises(TeachTheWalker, match="'galaxy_id'"):
        Address("galaxies/<int:galaxy_id>").filled({"team_id": 1})
    with pytest.raises(TeachTheWalker, match="regular expression"):
        Address("^galaxies/(?P<galaxy>[0-9]+)$").filled({})


def test_the_walk_knows_every_table_of_a_page(world: World) -> None:
    assert tables_of(Address("headroom/waiting.csv"), world) == ("jobs", "outages", "waiting")
    assert tables_of(Address("search.csv"), world) == ()
    assert (
        sum(len(tables_of(it, world)) for it in every_address() if it.pattern.endswith(".csv"))
        > 200
    )


def test_the_walk_tells_a_secret_when_it_reads_one(world: World) -> None:
    assert world.secrets_in("<td>Zephyrine</td><td>$5,939.48</td>", "dee") == [
        "$5,939",
        "$5,939.48",
        "Zephyrine",
    ]
    assert world.secrets_in("<td>Zephyrine</td>", "ben") == []
    assert "7,919.3" in world.secrets[WHOLE]


def askers_of(address: Address) -> list[tuple[str, str]]:
    """Who asks, and for what form."""
    if address.is_rest:
        return list(product(ON_REST, ("JSON", "CSV")))
    return [*((name, "page") for name in ON_PAGES), ("dee", "part of a page")]


def form_of(address: Address) -> str:
    """That in which it answers whoever does not say."""
    return "JSON" if address.is_rest else "page"


def is_told_methods(answer: Any) -> bool:
    """OPTIONS names the methods, or asks who it is."""
    methods = answer.headers.get("Allow", "").split(", ")
    is_told = answer.status_code in {200, 405} and bool({"GET", "POST"} & {*methods})
    return is_told or answer.status_code in {302, 401, 403, 404}


def asked_for_nothing(*, is_whole: bool) -> Iterator[tuple[Address, tuple[str, str]]]:
    """Every address by everybody, with all that makes no sense, or each by the next with the next."""
    everything = list(product(ASKING_FOR_NOTHING, MEANINGLESS))
    turn = cycle(everything)
    for address in every_address():
        for asked in everything if is_whole else [next(turn)]:
            yield address, asked


def queries_of(address: Address, world: World) -> tuple[str, ...]:
    """What stands behind the question mark; where a page has tables, each of them after that."""
    needed = NEEDED_QUERIES.get(address.pattern, ("",))
    queries = tuple(query.format_map(world.planted) for query in needed)
    names = tables_of(address, world) if address.pattern.endswith(".csv") else ()
    return queries + tuple(f"{query}&table={name}" for query in queries for name in names)


def tables_of(address: Address, world: World) -> tuple[str, ...]:
    """The names of all tables that are at an address, as it says them to whoever asks for another."""
    if address.pattern not in TABLES:
        (query, *_) = NEEDED_QUERIES.get(address.pattern, ("",))
        query = f"{query.format_map(world.planted)}&table=no-such-table"
        answer = answered(world, "petra", address.filled(world.planted), "page", query)
        _, _, names = answer.content.decode().partition(" of this page is wanted: it has ")
        TABLES[address.pattern] = tuple(filter(None, re.split(r", | and |\.$", names)))
    return TABLES[address.pattern]


def filters_of(address: Address) -> list[tuple[str, str, str]]:
    """What to try of FILTERS: what the REST surface says it knows; on pages, the usual ones."""
    told = document()["paths"].get("/" + PARAMETER.sub(r"{\1}", address.pattern), {}).get("get", {})
    known = (
        {each["name"] for each in told.get("parameters", [])} if address.is_rest else ON_PAGES_BY
    )
    return [(field, *names) for field, names in FILTERS.items() if field in known]
