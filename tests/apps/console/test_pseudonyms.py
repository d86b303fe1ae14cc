"""A person is taken out: no table has the name any more, and no amount changes."""

import gzip
import io
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from psycopg import sql
from pyarrow import parquet

from apps.accounts import actions
from apps.accounts.models import NameRemoval, Pseudonym, Team, User
from apps.accounts.queries.pseudonyms import last_removal, name_digest, pseudonym_of
from apps.accounts.tasks import finish_removals
from apps.economics.jobs import EventKind, JobEventIn, JobSource, JobStatement
from apps.files import PlaceUnreachable, is_stored, write_file
from apps.ledger.models import Export, LedgerUserDay, MonthDigest
from apps.personal.fields import personal_fields, walked_models
from apps.personal.names import FileOutcome
from apps.review.models import Alert
from apps.workloads.actions.recording import record_events
from apps.workloads.models import Job, OwnershipRule
from controlplane.ledger_audit import audit_here
from tests.apps.console.people import confirmed
from tests.apps.ledger import scene
from tests.apps.ledger.audited_world import make_world as make_audited_world
from tests.apps.review.test_alerts import raised
from tests.make import (
    NOON,
    make_organisation,
    make_person,
    make_team,
    make_token,
    take_names_out,
)
from tests.scope.world import make_world

pytestmark = pytest.mark.django_db
ADDRESS = "grace.hopper@example.org"


@pytest.fixture(autouse=True)
def _home(settings: Any, tmp_path: Path) -> None:
    settings.HOME = tmp_path


@pytest.fixture
def petra() -> Client:
    make_organisation()
    make_person("petra@example.org", name="Petra", role="platform")
    client = Client()
    client.force_login(User.objects.get(email="petra@example.org"))
    return client


def removed(petra: Client, entered: dict[str, str]) -> None:
    """Asked for on the page, and done by a worker."""
    confirmed(petra, "/people/pseudonymise", entered)
    finish_removals()


def files_of_last() -> tuple[FileOutcome, ...]:
    removal = last_removal()
    assert removal is not None
    return tuple(removal.files)


def said_by(user: str, raw_id: str = "1", owner: str = "") -> JobEventIn:
    return JobEventIn(
        "atlas",
        raw_id,
        JobStatement(
            kind=EventKind.START,
            at=NOON,
            source=JobSource.SCHEDULER,
            submitted_at=NOON - timedelta(hours=1),
            user=user,
            labels=(("owner", owner or user), ("zone", "a")),
        ),
    )


def rows_with(text: str) -> list[str]:
    """Tables of which a row has the text anywhere, what is compared as the database would print it."""
    holds = sql.SQL("SELECT {} WHERE EXISTS (SELECT FROM {} AS held WHERE held::text LIKE {})")
    with connection.cursor() as cursor:
        names = connection.introspection.table_names(cursor)
        cursor.execute(
            sql.SQL(" UNION ALL ").join(
                holds.format(sql.Literal(name), sql.Identifier(name), sql.Literal(f"%{text}%"))
                for name in names
            )
        )
        return sorted(name for (name,) in cursor.fetchall())


def test_a_user_of_jobs_is_found_nowhere_and_stays_out(petra: Client) -> None:
    record_events(events=[said_by("ghopper"), said_by("ghopper2", "2")], at=NOON)
    OwnershipRule.objects.create(
        priority=1, team_id=make_team("Research"), user="ghopper", name="", period=(NOON, None)
    )
    before = list(Job.objects.order_by("id").values_list("raw_id", "state", "started_at"))
    removed(petra, {"person": "", "names": "ghopper"})

    shown = pseudonym_of("ghopper")
    assert rows_with("ghopper") == ["workloads_job", "workloads_jobevent"]  # ghopper2's
    assert Job.objects.get(raw_id="1").user == shown
    assert Job.objects.get(raw_id="1").labels == {"owner": shown, "zone": "a"}
    assert Job.objects.get(raw_id="2").user == "ghopper2"
    assert OwnershipRule.objects.get().user == shown
    assert list(Job.objects.order_by("id").values_list("raw_id", "state", "started_at")) == before

    again = record_events(events=[said_by("ghopper"), said_by("ghopper", "3")], at=NOON)
    assert [each.is_changed for each in again] == [False, True]
    assert Job.objects.get(raw_id="3").user == shown


def test_the_page_says_how_far_a_worker_is_and_what_it_rewrote(petra: Client) -> None:
    """The request itself rewrites no table, however many rows there are."""
    record_events(events=[said_by("ghopper")], at=NOON)
    entered = {"person": "", "names": "ghopper"}
    sent = confirmed(petra, "/people/pseudonymise", entered, follow=True).content.decode()
    assert "The names are taken out from now on" in sent
    all_tables = len(list(walked_models()))
    assert f"0 of {all_tables} tables are done, 0 jobs and 0 other rows rewritten." in sent
    assert Job.objects.get().user == "ghopper"

    def killed(table: str, rows: int) -> None:
        if table == "workloads.job":
            raise KeyboardInterrupt

    (removal_id,) = actions.removals_to_finish()
    with pytest.raises(KeyboardInterrupt):
        actions.go_on_removing(removal_id=removal_id, at=NOON, progress=killed)
    done = len(NameRemoval.objects.get().tables)
    words = f"{done} of {all_tables} tables are done, 1 job and 1 other row rewritten."
    assert words in petra.get("/people/pseudonymise").content.decode()

    actions.go_on_removing(removal_id=removal_id, at=NOON)
    assert "Files are looked through next." in petra.get("/people/pseudonymise").content.decode()
    finish_removals()
    said = petra.get("/people/pseudonymise").content.decode()
    assert "The last one rewrote 1 job and 1 other row." in said
    assert "under way" not in said


def test_a_removal_whose_names_were_sealed_with_another_key_says_what_to_do(
    petra: Client, settings: Any
) -> None:
    confirmed(petra, "/people/pseudonymise", {"person": "", "names": "ghopper"})
    NameRemoval.objects.update(sealed_names="sealed by nobody")
    finish_removals()
    said = petra.get("/people/pseudonymise").content.decode()
    assert "The last one cannot go on, because its names were sealed with another key" in said
    assert "Enter them again." in said


def test_somebody_who_signed_in_is_found_nowhere(petra: Client) -> None:
    grace = make_person(ADDRESS, name="Grace Hopper", role="viewer")
    client = Client()
    client.force_login(User.objects.get(pk=grace))
    User.objects.filter(pk=grace).update(role="lead")
    removed(petra, {"person": str(grace), "names": ""})

    assert rows_with("Grace Hopper") == []
    assert rows_with(ADDRESS) == []
    person = User.objects.get(pk=grace)
    assert (person.name, person.email) == (pseudonym_of("Grace Hopper"), pseudonym_of(ADDRESS))
    assert not person.is_active
    assert client.get("/").status_code == 302


def test_a_label_of_somebody_elses_job_that_names_her_does_so_no_more(petra: Client) -> None:
    record_events(events=[said_by("bob", owner='gréta "g" hopper')], at=NOON)
    removed(petra, {"person": "", "names": 'gréta "g" hopper'})
    job = Job.objects.get()
    assert (job.user, job.labels["owner"]) == ("bob", pseudonym_of('gréta "g" hopper'))
    assert rows_with("hopper") == []


def test_jobs_that_are_called_by_her_address_or_her_name_are_renamed_with_her(
    petra: Client,
) -> None:
    grace = make_person(ADDRESS, name="Grace Hopper", role="viewer")
    record_events(events=[said_by(ADDRESS), said_by("Grace Hopper", "2")], at=NOON)
    removed(petra, {"person": str(grace), "names": ""})

    users = dict(Job.objects.values_list("raw_id", "user"))
    assert users == {"1": pseudonym_of(ADDRESS), "2": pseudonym_of("Grace Hopper")}
    assert rows_with("Grace Hopper") == []
    assert rows_with(ADDRESS) == []


def test_nothing_of_a_whole_installation_names_her_and_everybody_else_is_named_as_before() -> None:
    """Every action of the product was taken in that world, some of them by her."""
    make_world()
    cache.clear()
    ada = User.objects.get(email="ada.quillfeather@example.org")
    of_others = {name: rows_with(name) for name in ("ben.thistle", "Zephyrine", "Finn")}
    assert rows_with("Ada Quillfeather")
    take_names_out(person_id=ada.pk)
    assert rows_with("Quillfeather") == []
    assert rows_with("quillfeather") == []
    assert {name: rows_with(name) for name in of_others} == of_others


def test_another_of_the_same_name_keeps_it_on_their_account(petra: Client) -> None:
    grace = make_person(ADDRESS, name="Grace Hopper", role="lead")
    other = make_person("grace@elsewhere.example", name="Grace Hopper", role="lead")
    removed(petra, {"person": str(grace), "names": ""})
    assert User.objects.get(pk=other).name == "Grace Hopper"
    assert rows_with("Grace Hopper") == ["accounts_user", "accounts_userevent"]


def test_names_that_have_hers_in_them_stay_and_hers_goes_however_it_is_written(
    petra: Client,
) -> None:
    grace = make_person("grace@example.org", name="Grace Hopper", role="lead")
    raised(
        facts=[
            ("her", "GRACE@Example.org, grace@example.org."),
            ("others", "bob+grace@example.org, grace@example.org.uk"),
        ]
    )
    Alert.objects.update(state_name="grace.miller laptop of grace.")
    removed(petra, {"person": str(grace), "names": "grace"})
    address, alert = pseudonym_of("grace@example.org"), Alert.objects.get()
    assert alert.facts == [
        ["her", f"{address}, {address}."],
        ["others", "bob+grace@example.org, grace@example.org.uk"],
    ]
    assert alert.state_name == f"grace.miller laptop of {pseudonym_of('grace')}."


def test_a_name_with_a_backslash_is_found_in_documents(petra: Client) -> None:
    raised(facts=[("asked", "CORP\\grace"), ("plain", "CORP")])
    removed(petra, {"person": "", "names": "CORP\\grace"})
    assert Alert.objects.get().facts[0] == ["asked", pseudonym_of("CORP\\grace")]


def test_taken_out_again_nothing_changes_and_that_is_said(petra: Client) -> None:
    grace = make_person(ADDRESS, name="Grace Hopper", role="viewer")
    removed(petra, {"person": str(grace), "names": ""})
    before = User.objects.values("name", "email").get(pk=grace)
    again = petra.get("/people/pseudonymise", {"person": str(grace), "names": ""})
    assert "These names are taken out already." in again.content.decode()
    with pytest.raises(actions.PseudonymRefused):
        take_names_out(person_id=grace)
    take_names_out("ghopper", person_id=grace)
    assert User.objects.values("name", "email").get(pk=grace) == before
    assert Pseudonym.objects.count() == 3


def test_sums_by_user_keep_their_amounts(petra: Client) -> None:
    def kept() -> list[Any]:
        fields = [f.name for f in LedgerUserDay._meta.concrete_fields]
        return [
            {name: row[name] for name in fields if name != "user_name"}
            for row in LedgerUserDay.objects.order_by("id").values(*fields)
        ]

    LedgerUserDay.objects.bulk_create([_user_day("ghopper"), _user_day("other")])
    before = kept()
    removed(petra, {"person": "", "names": "ghopper"})
    assert kept() == before
    assert set(LedgerUserDay.objects.values_list("user_name", flat=True)) == {
        "other",
        pseudonym_of("ghopper"),
    }


def test_the_name_is_kept_nowhere_not_even_as_a_plain_digest(petra: Client) -> None:
    removed(petra, {"person": "", "names": "ghopper"})
    kept = Pseudonym.objects.get()
    assert kept.pseudonym == pseudonym_of("ghopper")
    with connection.cursor() as cursor:
        cursor.execute("SELECT sha256('ghopper'::bytea)")
        assert bytes(cursor.fetchone()[0]) != bytes(kept.digest)


@pytest.mark.parametrize("names", ["", "x", " , "])
def test_nobody_and_single_letters_are_refused(petra: Client, names: str) -> None:
    answer = petra.post("/people/pseudonymise", {"person": "", "names": names, "confirmed": "yes"})
    assert answer.status_code in {400, 409}
    assert not Pseudonym.objects.exists()


def test_the_last_of_the_platform_cannot_be_taken_out(petra: Client) -> None:
    me = User.objects.get(email="petra@example.org")
    answer = petra.post(
        "/people/pseudonymise", {"person": str(me.pk), "names": "", "confirmed": "yes"}
    )
    assert answer.status_code == 409
    assert rows_with("petra@example.org")


@pytest.mark.parametrize("role", ["finance", "lead", "viewer"])
def test_only_the_platform_may(role: str) -> None:
    make_organisation()
    client = Client()
    client.force_login(User.objects.get(pk=make_person(f"{role}@example.org", role=role)))
    assert client.get("/people/pseudonymise").status_code == 403


def _user_day(user: str) -> LedgerUserDay:
    day = date(2026, 1, 2)
    values: dict[str, Any] = {
        "user_name": user,
        "is_of_job": True,
        "day": day,
        "posting_month": day,
    }
    for field in LedgerUserDay._meta.concrete_fields:
        if not (field.primary_key or field.null or field.has_default()):
            values.setdefault(field.attname, 1)
    return LedgerUserDay(**values)


SPELLINGS = (
    "José Müller",
    "jose\u0301 mu\u0308ller",
    "JOSÉ MÜLLER",
    "JOSE\u0301 MU\u0308LLER",
    "José\u00a0Müller",
    "José\u202fMüller",
    "José  Müller",
    "José\tMüller",
    "José \n Müller",
    "José\u200b Müller",
    "Jose%CC%81%20M%C3%BCller",
    "Jos%C3%A9+M%C3%BCller",
    "JOS%C3%89%C2%A0M%C3%9CLLER",
)


@pytest.mark.parametrize("entered", ["José Müller", "jose\u0301\u00a0MU\u0308LLER"])
def test_a_name_goes_in_every_spelling_and_is_one_pseudonym(petra: Client, entered: str) -> None:
    facts = [["a", f"seen of {spelling}, twice"] for spelling in SPELLINGS]
    others = ["José Müllers", "xJosé Müller", "Jose Muller", "José Müller\u0301"]
    raised(facts=[*facts, *(["b", other] for other in others)])
    for number, spelling in enumerate(SPELLINGS[:10]):
        record_events(events=[said_by(spelling.strip(), str(number))], at=NOON)
    removed(petra, {"person": "", "names": entered})

    shown = pseudonym_of("José Müller")
    assert pseudonym_of(entered) == shown
    said = [fact[1] for fact in Alert.objects.get().facts]
    assert said == [f"seen of {shown}, twice"] * len(SPELLINGS) + others
    assert set(Job.objects.values_list("user", flat=True)) == {shown}

    for number, spelling in enumerate(SPELLINGS[:10]):
        record_events(events=[said_by(spelling.strip(), f"again {number}")], at=NOON)
    assert set(Job.objects.values_list("user", flat=True)) == {shown}
    assert Pseudonym.objects.count() == 1


def test_a_name_that_was_taken_out_as_it_was_entered_keeps_its_pseudonym(petra: Client) -> None:
    """Names in large letters had a digest of their own before spellings were one."""
    Pseudonym.objects.create(
        digest=name_digest("Grace Hopper"), pseudonym="person-of-before", made_at=NOON
    )
    removed(petra, {"person": "", "names": "Grace Hopper"})
    record_events(events=[said_by("Grace Hopper")], at=NOON)
    assert Job.objects.get().user == "person-of-before"
    assert Pseudonym.objects.count() == 1


def stored(name: str, content: bytes) -> str:
    with write_file(name) as draft:
        draft.write(content)
    return name


def test_files_that_hold_her_name_are_deleted_or_listed(
    petra: Client, settings: Any, tmp_path: Path
) -> None:
    settings.HOME = tmp_path
    export = Export.objects.create(
        token_id=make_token("read").id, what="lines", window_text="2026-03", zone="UTC",
        first_day=date(2026, 3, 1), end_day=date(2026, 4, 1), asked_at=NOON,
        state="done", has_file=True, expires_at=NOON + timedelta(days=7),
    )  # fmt: skip
    lines = b"".join(b"node-%06d,bob,1.5\n" % number for number in range(90_000))
    of_her = stored(f"exports/{export.id}.csv.gz", gzip.compress(lines + b"n,Grace  HOPPER,1\n"))
    parquet_file = io.BytesIO()
    parquet.write_table(pa.table({"user": ["bob", "grace hopper"]}), parquet_file)
    listed = stored("uploads/a.upload", parquet_file.getvalue())
    stored("uploads/b.upload", b"job,user\n1,bob\n")
    broken = stored("uploads/c.upload", gzip.compress(b"grace hopper")[:-9])
    copy = stored("backups/runrate-20260301T000000Z.copy", b"PK whatever")
    soon = datetime.now(UTC) + timedelta(hours=1)
    take_names_out("Grace Hopper", at=soon)
    assert is_stored(of_her)
    finish_removals()
    outcomes = {each.name: each.outcome for each in files_of_last()}
    assert f"{copy}: it was made before" in petra.get("/people/pseudonymise").content.decode()
    assert set(outcomes) == {of_her, listed, broken, copy}
    assert "was deleted" in outcomes[of_her]
    assert "not imported yet" in outcomes[listed]
    assert "could not be looked through" in outcomes[broken]
    assert "made before" in outcomes[copy]
    assert not is_stored(of_her)
    assert is_stored(listed)
    export.refresh_from_db()
    assert (export.state, "ask for it again" in export.failure) == ("cancelled", True)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("tables", [1, 40])
def test_a_removal_that_was_killed_is_gone_on_with_and_ends_the_same(
    settings: Any, tmp_path: Path, tables: int
) -> None:
    settings.HOME = tmp_path
    make_organisation()
    record_events(events=[said_by("ghopper"), said_by("bob", "2", owner="ghopper")], at=NOON)
    raised(facts=[("her", "of ghopper")])
    done: list[str] = []

    def killed(table: str, rows: int) -> None:
        done.append(table)
        if len(done) == tables:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        take_names_out("ghopper", progress=killed)
    removal = NameRemoval.objects.get()
    assert (len(removal.tables), removal.ended_at) == (tables, None)
    assert "ghopper" not in removal.sealed_names
    # Whatever arrives meanwhile is written with the pseudonym.
    record_events(events=[said_by("ghopper", "3")], at=NOON)
    assert Job.objects.get(raw_id="3").user == pseudonym_of("ghopper")
    finish_removals()
    assert rows_with("ghopper") == []
    removal.refresh_from_db()
    assert (removal.sealed_names, removal.ended_at is not None) == ("", True)
    assert {each._meta.label_lower for each in walked_models()} == set(removal.tables)
    rewritten = removal.tables
    finish_removals()
    removal.refresh_from_db()
    assert removal.tables == rewritten


def test_two_spellings_that_one_table_holds_apart_stay_two_rows(
    settings: Any, tmp_path: Path
) -> None:
    settings.HOME = tmp_path
    make_organisation()
    make_team("ada smith")
    make_team("Ada Smith")
    names = ["ada", "ada smith"]
    take_names_out(*names)
    finish_removals()
    assert actions.removals_to_finish() == []
    shown = pseudonym_of("ada smith")
    found = Team.objects.filter(name__startswith=shown).order_by("name")
    assert list(found.values_list("name", flat=True)) == [shown, f"{shown}-2"]


@pytest.mark.parametrize("entered", ["Anna Groß", "ANNA GROSS", "weiß", "Steffi Graf"])
def test_letters_that_are_two_in_capitals_are_found_either_way(
    settings: Any, tmp_path: Path, entered: str
) -> None:
    settings.HOME = tmp_path
    make_organisation()
    of_one_letter = entered.replace("ff", "\ufb00").replace("SS", "\u1e9e")
    spellings = {entered, entered.upper(), entered.casefold(), of_one_letter}
    for number, spelling in enumerate(sorted(spellings)):
        record_events(events=[said_by(spelling, str(number))], at=NOON)
    take_names_out(entered)
    assert [spelling for spelling in spellings if rows_with(spelling)] == []


def test_what_is_said_of_a_job_while_names_go_does_not_bring_one_back(
    settings: Any, tmp_path: Path
) -> None:
    settings.HOME = tmp_path
    make_organisation()
    record_events(events=[said_by("ghopper")], at=NOON)
    end = JobStatement(kind=EventKind.END, at=NOON + timedelta(hours=1), source=JobSource.SCHEDULER)

    def say_more(table: str, rows: int) -> None:
        record_events(events=[JobEventIn("atlas", "1", end)], at=NOON)

    take_names_out("ghopper", progress=say_more)
    assert rows_with("ghopper") == []


def test_a_file_that_was_made_while_names_went_is_looked_through(
    settings: Any, tmp_path: Path
) -> None:
    settings.HOME = tmp_path
    make_organisation()
    before = datetime.now(UTC) - timedelta(hours=1)
    take_names_out("ghopper", at=before)
    name = stored("exports/1.csv", b"user,cost\nghopper,1\n")
    finish_removals()
    assert [outcome.name for outcome in files_of_last()] == [name]


def test_files_that_are_away_are_looked_through_when_they_are_back(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.HOME = tmp_path
    make_organisation()
    name = stored("exports/1.csv", b"user,cost\nghopper,1\n")
    take_names_out("ghopper")

    def away(folder: str) -> None:
        raise PlaceUnreachable("gone")

    with monkeypatch.context() as patched:
        patched.setattr("apps.personal.files.list_files", away)
        finish_removals()
    assert len(actions.removals_to_finish()) == 1
    finish_removals()
    assert actions.removals_to_finish() == []
    assert [outcome.name for outcome in files_of_last()] == [name]


def test_a_closed_month_keeps_everything_but_her_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its lines and sums are as they were, and the audit, which holds it against the digests of its close, finds nothing."""
    hers = partial(scene.make_job, user="ghopper", labels={"owner": "ghopper"})
    monkeypatch.setattr(scene, "make_job", hers)
    make_audited_world(tmp_path)
    # Digests of what a closed month says of people are renewed beside the old ones; the audit reads them.
    ledger = [
        model
        for model in walked_models()
        if model._meta.app_label == "ledger" and model is not MonthDigest
    ]

    def but_for_names() -> dict[str, Any]:
        kept = {}
        for model in ledger:
            personal = personal_fields(model)
            names = [
                f.attname
                for f in model._meta.concrete_fields
                if f.name not in personal and "digest" not in f.name
            ]
            kept[model._meta.label_lower] = list(
                model._default_manager.order_by("pk").values_list(*names)
            )
        return kept

    before, found = but_for_names(), audit_here()
    assert found.closed_months
    assert not found.places
    taken = take_names_out("ghopper")
    assert taken.by_table["workloads.job"]
    assert taken.by_table["ledger.ledgeruserday"]
    assert rows_with("ghopper") == []
    assert but_for_names() == before
    assert audit_here() == found
