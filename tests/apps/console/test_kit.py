"""What pages are made of: a column said once is heading, cell, order and CSV; a change is looked at."""

import re
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.http import QueryDict
from django.template.loader import render_to_string
from django.test import Client, RequestFactory

from apps.accounts.queries import OrganisationFact, Viewer, teams
from apps.accounts.queries.reading import reading_once
from apps.console.kit.cells import COUNT, strip_drawn
from apps.console.kit.change import ChangeForm
from apps.console.kit.csv_file import prefers_csv
from apps.console.kit.entries import (
    AmountField,
    DayField,
    MomentField,
    PickField,
    TextField,
    TicksField,
)
from apps.console.kit.frame import Frame
from apps.console.kit.page import ConsolePage, FactList, Include
from apps.console.kit.request import Context
from apps.console.kit.table import Table, TableSection
from apps.pricing.models import ApiPrice
from apps.show.strip import strip_of_states
from apps.tables.column import Column
from tests import make
from tests.apps.console.people import signed_in

VIEWER = Viewer(
    person_id=1,
    name="Finn",
    role="finance",
    sees_everything=True,
    team_ids=frozenset(),
    sees_prices=True,
    may_manage=False,
    may_close=True,
)
Row = tuple[str, int | None]
ROWS: list[Row] = [("b", 2), ("A", None), ("c", 10)]
THINGS = Table[Row](
    "list",
    "Things",
    (
        Column("name", "Name", lambda row: row[0], href=lambda row: f"/things/{row[0]}"),
        Column("size", "Size", lambda row: row[1], COUNT, warns=lambda row: row[1] == 10 and "big"),
        Column("note", "Note", lambda row: "<i>", csv="", sorts=False),
        Column("twice", "", lambda row: None if row[1] is None else row[1] * 2),
    ),
    sort="of",
    per_page=2,
    csv_first=("size",),
)


def context(address: str = "") -> Context:
    return Context(
        viewer=VIEWER,
        at=datetime(2026, 3, 2, 10, 20, tzinfo=UTC),
        organisation=OrganisationFact("Lab", "EUR", "Europe/Berlin", week_starts_on=1),
        zone=ZoneInfo("Europe/Berlin"),
        frame=Frame("Lab", "Finn", "costs"),
        path="/things",
        query=QueryDict(address),
    )


def shown(address: str = "", rows: list[Row] = ROWS) -> TableSection:
    return THINGS.section(rows, context(address), csv_name="things")


def names(section: TableSection) -> list[str]:
    return [row.partition("</a>")[0][-1] for row in section.rows]


def test_a_column_is_a_heading_a_cell_and_a_cell_of_the_file() -> None:
    section = shown("of=size")
    assert [heading.text for heading in section.headings] == ["Name", "Size", "Note"]
    assert section.rows[1] == (
        '<th scope="row"><a href="/things/c">c</a></th>'
        '<td class="number-cell"><span class="tone-warn" title="big">10</span></td>'
        "<td>&lt;i&gt;</td>"
    )
    written = THINGS.csv(ROWS, context(), "things").content.decode()
    assert written.split("\r\n") == ["size,name,twice", "2,b,4", ",A,", "10,c,20", ""]


def test_what_is_not_known_is_marked_and_comes_last_either_way() -> None:
    assert "not known" in shown("of-page=1&of=name").rows[0]
    assert names(shown("of=-size")) == ["c", "b"]
    assert names(shown("of=size&of-page=2")) == ["A"]


def test_without_an_order_rows_stay_as_they_come_and_numbers_begin_with_the_largest() -> None:
    section = shown("window=7d")
    assert names(section) == ["b", "A"]
    assert [heading.href for heading in section.headings] == [
        "/things?window=7d&of=name#list",
        "/things?window=7d&of=-size#list",
        "",
    ]


def test_an_order_is_marked_turns_and_is_the_order_of_the_file() -> None:
    name, size, _ = shown("of=size&window=7d").headings
    assert (size.order, size.href) == ("ascending", "/things?window=7d&of=-size#list")
    assert (name.order, name.href) == ("", "/things?window=7d&of=name#list")
    file = shown("of=-size").csv
    assert file is not None
    assert file.href == "/things.csv?of=-size&table=list"
    assert file.write().content == THINGS.csv(ROWS, context("of=-size"), "things").content
    written = THINGS.csv(ROWS, context("of=-size"), "things").content.decode()
    assert [line.split(",")[1] for line in written.split("\r\n")[1:-1]] == ["c", "b", "A"]


def test_a_long_list_comes_in_parts_that_keep_the_order_and_say_the_whole() -> None:
    rows: list[Row] = [(str(each), each) for each in range(5)]
    section = shown("of=-size&of-page=2", rows)
    assert names(section) == ["2", "1"]
    assert section.about == "3–4 of 5 rows"
    assert section.part.before is not None
    assert section.part.after is not None
    assert section.part.before.href == "/things?of=-size#list"
    assert section.part.after.href == "/things?of-page=3&of=-size#list"
    assert names(shown("of-page=99", rows)) == ["4"]
    for nonsense in ("-1", "0", "x", "999999999", "٣"):
        assert names(shown(f"of-page={nonsense}", rows)) == ["0", "1"]


@pytest.mark.parametrize("csv_table", [None, "list"], ids=["of the page", "of the file alone"])
def test_the_file_of_a_list_in_parts_has_every_row(csv_table: str | None) -> None:
    rows: list[Row] = [(str(number), number) for number in range(5)]
    of_page = replace(context("of=-size&of-page=2"), csv_table=csv_table)
    file = THINGS.section(rows, of_page, csv_name="things").csv
    assert file is not None
    written = file.write().content.decode().split("\r\n")
    assert [line.split(",")[1] for line in written[1:-1]] == ["4", "3", "2", "1", "0"]


@pytest.mark.parametrize("odd", ["price", "note", "twice", "-"])
def test_an_order_that_there_is_not_is_said_and_left(odd: str) -> None:
    section = shown(f"of={odd}")
    assert names(section) == ["b", "A"]
    assert section.problem == f"There is no column {odd.removeprefix('-')!r} to order by."


@pytest.mark.parametrize(
    ("accepted", "is_csv"),
    [
        ("text/csv", True),
        ("text/csv; charset=utf-8", True),
        ("text/csv, */*;q=0.1", True),
        ("text/html;q=0.5, text/csv", True),
        ("text/html, text/csv", False),
        ("text/html;q=0.5, */*", False),
        ("*/*", False),
        ("text/html,application/xhtml+xml,*/*;q=0.8", False),
    ],
)
def test_csv_is_answered_to_who_names_it_and_would_rather_have_it(
    accepted: str, is_csv: bool
) -> None:
    request = RequestFactory().get("/things", headers={"Accept": accepted})
    assert prefers_csv(request) is is_csv


class LeaseForm(ChangeForm):
    """What somebody leases."""

    name = TextField("Name")
    kind = PickField("Kind")
    amount = AmountField("Amount", example="98.32")
    since = MomentField("From", is_now=True)
    until = MomentField("To", is_needed=False)


ENTERED = "name=rack&kind=b&amount=1.5&since=2026-03-02T10:00&until="


def lease(address: str) -> ChangeForm:
    return LeaseForm(QueryDict(address), context(), {"kind": {"a": "Small", "b": "Big"}}, {})


def test_a_strip_is_drawn_part_by_part_and_says_itself_and_nothing_is_told_apart() -> None:
    strip = strip_of_states({"active": 750, "unallocated": 250})
    assert strip is not None
    drawn = strip_drawn(strip)
    assert re.findall(r'class="(state-\w+)[^"]*" x="([\d.%]+)" width="([\d.%]+)"', drawn) == [
        ("state-active", "0.0%", "75.0%"),
        ("state-unallocated", "75.0%", "25.0%"),
    ]
    assert f'aria-label="{strip.words}"' in drawn
    assert "&lt;b&gt;" in strip_drawn(replace(strip, words="<b>"))
    assert "nothing to divide" in strip_drawn(None)


def test_a_form_that_was_only_opened_has_nothing_wrong_in_it() -> None:
    form = lease("")
    since = form.frozen()[3]
    assert not form.is_bound
    assert not any(each.problem for each in form.frozen())
    assert (since.label, since.value) == ("From (Europe/Berlin)", "2026-03-02T11:00")


def test_moments_are_read_in_the_organisations_zone() -> None:
    form = lease(ENTERED)
    assert form.is_valid()
    assert form.cleaned_data["since"] == datetime(2026, 3, 2, 9, tzinfo=UTC)
    assert form.cleaned_data["until"] is None
    assert [choice.is_chosen for choice in form.frozen()[1].choices] == [False, True]


@pytest.mark.parametrize(
    ("field", "text", "said"),
    [
        ("kind", "c", "Choose one of the list."),
        ("amount", "NaN", "Say an amount in figures, as in 98.32."),
        ("amount", "much", "Say an amount in figures, as in 98.32."),
        ("since", "", "Say a day and a time, as in 2026-03-31 14:00."),
        ("since", "0001-01-01", "This is beyond the calendar."),
        ("since", "0001-01-01T00:00Z", "This is beyond the calendar."),
        ("since", "1970-01-01T23:59", "This is beyond the calendar."),
        ("since", "3000-01-01", "This is beyond the calendar."),
        ("until", "9999-12-31T23:00Z", "This is beyond the calendar."),
        ("name", "x" * 201, "Say it in at most 200 characters."),
        ("name", "%00", "Null characters are not allowed."),
    ],
)
def test_what_cannot_be_read_is_said_at_its_field_and_kept(
    field: str, text: str, said: str
) -> None:
    form = lease(f"{ENTERED}&{field}={text}")
    assert not form.is_valid()
    wrong = {each.name: each.problem for each in form.frozen() if each.problem}
    assert wrong == {field: said}


def test_what_is_too_long_is_shown_whole_so_that_nobody_confirms_a_part_of_it() -> None:
    long = "x" * 201
    picks = {"kind": {"a": "Small"}}
    opened = LeaseForm(QueryDict(), context(), picks, {"name": long})
    sent = lease(f"{ENTERED}&name={long}")
    assert [form.frozen()[0].value for form in (opened, sent)] == [long, long]


class NodesForm(ChangeForm):
    """Nodes that are ticked, and their days."""

    nodes = TicksField("Nodes", is_needed=True)
    since = DayField("From")
    until = DayField("To", is_needed=False)


def nodes(address: str) -> ChangeForm:
    picks = {"nodes": {"1": "gpu-01", "2": "gpu-02", "3": "gpu-03"}}
    return NodesForm(QueryDict(address), context(), picks, is_sent=True)


def test_what_is_ticked_is_a_list_and_is_sent_again_as_one() -> None:
    form = nodes("nodes=1&nodes=3&since=2026-03-01")
    assert form.is_valid()
    assert form.cleaned_data == {"nodes": ["1", "3"], "since": date(2026, 3, 1), "until": None}
    ticked = form.frozen()[0]
    assert ticked.values == ("1", "3")
    assert [choice.is_chosen for choice in ticked.choices] == [True, False, True]


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("since=2026-03-01", {"nodes": "Tick at least one."}),
        ("nodes=4&since=2026-03-01", {"nodes": "Tick some of the list."}),
        ("nodes=1&since=soon", {"since": "Say a day, as in 2026-11-01."}),
        ("nodes=1&since=", {"since": "Say a day, as in 2026-11-01."}),
        ("nodes=1&since=0001-01-01", {"since": "That day is out of reach."}),
    ],
)
def test_what_cannot_be_ticked_or_is_no_day_is_said(address: str, said: dict[str, str]) -> None:
    form = nodes(address)
    assert not form.is_valid()
    assert {each.name: each.problem for each in form.frozen() if each.problem} == said


def test_a_section_without_a_class_of_its_own_is_a_template_and_its_content() -> None:
    facts = Include("kit/facts.html", FactList([("Model", "H100")]))
    page = ConsolePage(
        context=context(), finding="Two lists", sections=(FactList([("Kind", "GPU")]), facts, None)
    )
    text = render_to_string(page.template, {"page": page})
    assert "<dt>Kind</dt><dd>GPU</dd>" in text
    assert "<dt>Model</dt><dd>H100</dd>" in text


@pytest.fixture
def finn(settings: Any) -> Client:
    settings.ROOT_URLCONF = "tests.apps.console.added_page"
    make.make_organisation()
    return signed_in("finance")


@pytest.mark.django_db
def test_a_page_is_one_file_and_a_table_one_declaration(finn: Client) -> None:
    """The worked example of CONTRIBUTING."""
    text = finn.get("/payments?sort=-cost").content.decode()
    assert "<h1>Three things were paid</h1>" in text
    assert text.index("Lease") < text.index("=rack") < text.index("Power")
    assert "Mon 2 March" in text
    assert "$20.00" in text
    assert 'href="/payments.csv?sort=-cost&amp;table=table"' in text
    assert finn.get("/payments.csv?sort=-cost").content.decode().split("\r\n")[:3] == [
        "what,day,cost,currency",
        "Lease,2026-03-01,20.000000,USD",
        "'=rack,2026-03-02,1.500000,USD",
    ]
    assert signed_in("viewer").get("/payments").status_code == 403
    assert finn.post("/payments").status_code == 405


@pytest.mark.django_db
def test_confirming_what_was_not_looked_at_or_has_moved_shows_it_again(finn: Client) -> None:
    entered = {
        "vendor": "openai", "model": "m", "tier": "", "unit": "all", "amount": "", "discount": "20",
        "per_quantity": "", "currency": "USD", "starts_at": "2026-03-01T00:00", "ends_at": "",
    }  # fmt: skip
    moved = finn.post("/api-spend/prices/new", entered | {"seen": "another"})
    assert moved.status_code == 409
    assert "what it would change has changed" in moved.content.decode()
    (seen,) = re.findall(r'name="seen" value="(\w+)"', moved.content.decode())
    unseen = finn.post("/api-spend/prices/new", entered)
    assert unseen.status_code == 409
    assert "Nothing is done that was not looked at first" in unseen.content.decode()
    other = finn.post("/api-spend/prices/new", entered | {"seen": seen, "discount": "90"})
    assert other.status_code == 409, "what was looked at is taken for something else"
    assert not ApiPrice.objects.exists()
    assert finn.post("/api-spend/prices/new", entered | {"seen": seen}).status_code == 302


@pytest.mark.django_db
def test_what_is_looked_at_reads_small_tables_once_and_what_changes_reads_them_each_time(
    finn: Client, django_assert_num_queries: Any
) -> None:
    with reading_once():
        first = teams()
        with django_assert_num_queries(0):
            again = teams()
        first.clear()
        assert again == teams()
    with django_assert_num_queries(2):
        assert teams() == teams()
