"""The registry of personal fields: no column is forgotten, and a name that is planted in every one is found in none."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.db import DatabaseError, connection, transaction
from django.db.models import JSONField
from psycopg import sql

from apps.accounts import actions
from apps.accounts.models import User
from apps.accounts.queries.pseudonyms import pseudonym_of
from apps.economics.jobs import EventKind, JobEventIn, JobSource, JobStatement
from apps.personal.fields import (
    FreeField,
    PersonalField,
    declared_field,
    is_free_by_type,
    personal_fields,
    textual_fields,
    walked_models,
)
from apps.personal.names import TakenNames
from apps.review.models import Alert, AlertEntry, SpendAnomaly, WeeklyReview
from apps.review.queries.weekly.stored_reviews import digest_is_good
from apps.workloads.actions.recording import record_events
from apps.workloads.models import Job, JobEvent
from tests.apps.review.test_alerts import raised
from tests.make import NOON, make_organisation, make_person, take_names_out
from tests.scope.world import make_world

pytestmark = pytest.mark.django_db
PLANTED = "ghopper"
SPELT = "seen of ghopper, GHopper and CORP\\ghopper."
NO_MODEL = {"django_migrations", "shared_cache"}
"""Tables without a model that hold text: the names of migrations, and what a cache forgets by itself."""


def test_every_textual_column_is_declared() -> None:
    """A new column fails here until its app says whether it may name a person."""
    unsaid, without_reason = [], []
    for model in walked_models():
        for field in textual_fields(model):
            declared = declared_field(model, field)
            if declared is None and not is_free_by_type(field):
                unsaid.append(f"{model._meta.label_lower}.{field.name}")
            if isinstance(declared, FreeField) and not declared.reason:
                without_reason.append(f"{model._meta.label_lower}.{field.name}")
    assert unsaid == []
    assert without_reason == []


def test_every_declaration_is_of_a_column() -> None:
    from apps.personal.fields import _declarations

    columns = {
        model._meta.label_lower: {field.name for field in textual_fields(model)}
        for model in walked_models()
    }
    stray = [
        f"{label}.{name}"
        for label, declared in _declarations().items()
        for name in declared
        if name not in columns.get(label, set())
    ]
    assert stray == []


def test_every_textual_column_of_the_database_is_of_a_model() -> None:
    tables = {model._meta.db_table for model in walked_models()}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT c.table_name FROM information_schema.columns c"
            " JOIN pg_class p ON p.relname = c.table_name AND p.relkind IN ('r', 'p') AND NOT p.relispartition"
            " WHERE c.table_schema = current_schema()"
            " AND c.data_type IN ('text', 'character varying', 'jsonb', 'json', 'ARRAY')"
        )
        found = {name for (name,) in cursor.fetchall()}
    assert found - tables - NO_MODEL == set()


def test_a_column_of_another_type_is_not_free_by_itself() -> None:
    by_name = {
        (model._meta.label_lower, field.name): is_free_by_type(field)
        for model in walked_models()
        for field in textual_fields(model)
    }
    assert by_name["review.spendanomaly", "drivers"] is False
    assert by_name["review.alert", "state"] is True
    assert by_name["placement.jobquote", "book_digest"] is True


@pytest.mark.proof
def test_a_name_in_every_column_of_every_table_is_found_in_none() -> None:
    """In the world of the scope tests, where most tables have rows; the others get one."""
    make_world()
    cache.clear()
    planted, missed = [], []
    with _without_triggers():
        for model in walked_models():
            for name, field in personal_fields(model).items():
                is_planted = _plant(model, name, field)
                (planted if is_planted else missed).append(f"{model._meta.label_lower}.{name}")
    assert missed == []
    assert len(planted) > 200
    assert rows_naming(PLANTED)
    take_names_out(PLANTED)
    assert rows_naming(PLANTED) == []
    for review in WeeklyReview.objects.all():
        assert digest_is_good(review.pk)


def test_what_runrate_wrote_of_her_is_written_anew() -> None:
    make_organisation()
    raised(facts=[("Most", "ghopper: $120 of $130"), ("Bill", "the bill of grace.miller")])
    anomaly = SpendAnomaly(
        drivers=[
            {"dimension": "user", "rows": [{"name": "ghopper", "micros": 5}]},
            {"dimension": "team", "rows": [{"name": "Research", "micros": 5}]},
        ]
    )
    names = TakenNames({"ghopper": pseudonym_of("ghopper"), "bill": pseudonym_of("bill")})
    drivers = personal_fields(SpendAnomaly)["drivers"]
    renamed = drivers.renamed(anomaly.drivers, names)
    assert renamed[0]["rows"] == [{"name": pseudonym_of("ghopper"), "micros": 5}]
    assert renamed[1] == anomaly.drivers[1]

    take_names_out("ghopper", "bill")
    facts = [
        ["Most", f"{pseudonym_of('ghopper')}: $120 of $130"],
        [pseudonym_of("bill"), "the bill of grace.miller"],
    ]
    assert Alert.objects.get().facts == facts
    assert AlertEntry.objects.get().facts == facts


def test_a_jobs_namespace_labels_and_statements_are_written_anew_and_stay_so() -> None:
    make_organisation()
    statement = JobStatement(
        kind=EventKind.START,
        at=NOON,
        source=JobSource.SCHEDULER,
        submitted_at=NOON - timedelta(hours=1),
        user="GHopper",
        namespace="ghopper",
        account="CORP\\ghopper",
        labels=(("mail", "to GRACE@example.org, now"), ("zone", "ghopper-2")),
    )
    event = JobEventIn("atlas", "1", statement)
    record_events(events=[event], at=NOON)
    names = ["ghopper", "grace@example.org"]
    take_names_out(*names)

    hers, mail = map(pseudonym_of, names)
    job = Job.objects.get()
    assert (job.user, job.namespace, job.account) == (hers, hers, f"CORP\\{hers}")
    assert job.labels == {"mail": f"to {mail}, now", "zone": "ghopper-2"}
    assert JobEvent.objects.get().content["namespace"] == hers
    (again,) = record_events(events=[event], at=NOON)
    assert not again.is_changed
    assert rows_naming("grace@") == []
    assert JobEvent.objects.count() == 1


def test_it_is_done_whole_or_not_at_all() -> None:
    """Broken off in the midst, nothing is changed; begun anew it goes through."""
    make_organisation()
    raised(facts=[("Most", "ghopper")])
    before = rows_naming(PLANTED)

    def broken_off(table: str, rows: int) -> None:
        if table == "review.alertentry":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), transaction.atomic():
        take_names_out(PLANTED, progress=broken_off)
    assert rows_naming(PLANTED) == before != []
    done: dict[str, int] = {}
    take_names_out(PLANTED, progress=done.__setitem__)
    assert done["review.alert"] == done["review.alertentry"] == 1
    assert rows_naming(PLANTED) == []


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Ghopper", "P"),
        ("by ghopper.", "by P."),
        ("ghopper2, ada.ghopper, bob+ghopper, ghopper@example.org", None),
        ("user=ghopper&team=a", "user=P&team=a"),
        ("of Grace%20Hopper and grace+hopper", "of Q and Q"),
        ("x?user%3Dghopper", "x?user%3DP"),
        (
            "/in?next=%2Fcosts%3Fuser%253dghopper%2526team%253da",
            "/in?next=%2Fcosts%3Fuser%253dP%2526team%253da",
        ),
        ("bob%2Bghopper, x%40ghopper, %C3%A9ghopper, %5Fghopper", None),
        ("of o’neil, O'NEIL, o%27neil and o%E2%80%99neil", "of S, S, S and S"),
        ("o’neill and no'neil", None),
        ("the Will of will", None),
        ("WILL", "R"),
    ],
)
def test_names_are_whole_words_in_any_case(text: str, written: str | None) -> None:
    names = TakenNames({"ghopper": "P", "Grace Hopper": "Q", "will": "R", "o'neil": "S"})
    assert names.in_text(text) == (text if written is None else written)


def test_a_column_of_names_holds_no_plain_words() -> None:
    names = TakenNames({"will": "R"})
    assert names.in_name("token of will") == "token of R"


@pytest.mark.parametrize("text", ["ALİ", "of Alı.", "ali and ALİ"])
def test_a_letter_that_a_search_takes_for_another_ends_nothing(text: str) -> None:
    names = TakenNames({"ali": "P"})
    assert "P" in names.in_text(f"by {text}")
    assert names.in_name(f"token of {text}").count("P") == text.casefold().count("al")


def test_earlier_names_of_an_account_are_taken_out_with_it() -> None:
    make_organisation()
    grace = make_person("grace@old.example", name="Grace Murray", role="viewer")
    User.objects.filter(pk=grace).update(name="Grace Hopper", email="grace@new.example")
    raised(facts=[("asked by", "Grace Murray, grace@old.example")])
    take_names_out(person_id=grace)
    assert rows_naming("Grace Murray") == rows_naming("grace@old.example") == []
    with pytest.raises(actions.PseudonymRefused, match="already"):
        take_names_out(person_id=grace)


@pytest.mark.parametrize("name", ["J", ""])
def test_an_account_of_one_letter_is_taken_out_too(name: str) -> None:
    make_organisation()
    person = make_person("j@example.org", name="J", role="viewer")
    User.objects.filter(pk=person).update(name=name)
    take_names_out(person_id=person)
    user = User.objects.get(pk=person)
    assert user.name == user.email == pseudonym_of("j@example.org")
    with pytest.raises(actions.PseudonymRefused, match="already"):
        take_names_out(person_id=person)


@contextmanager
def _without_triggers() -> Iterator[None]:
    """And without checks of one column by another: a name may stand where they would want another row."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(
            "SELECT conrelid::regclass::text, quote_ident(conname) FROM pg_constraint"
            " JOIN pg_class p ON p.oid = conrelid WHERE contype = 'c' AND NOT relispartition"
        )
        for table, check in cursor.fetchall():
            drop = sql.SQL("ALTER TABLE {} DROP CONSTRAINT IF EXISTS {}")
            cursor.execute(drop.format(sql.SQL(table), sql.SQL(check)))
        yield
        cursor.execute("SET LOCAL session_replication_role = origin")


def _plant(model: Any, name: str, field: PersonalField) -> bool:
    """Write it into this column of one row; a row is made where there is none."""
    column = model._meta.get_field(name)
    with connection.cursor() as cursor:
        table = sql.Identifier(model._meta.db_table)
        cursor.execute(sql.SQL("SELECT 1 FROM {} LIMIT 1").format(table))
        if cursor.fetchone() is None and not _has_made_row(model):
            return False
        was = sql.SQL("SELECT {}::text FROM {} LIMIT 1").format(
            sql.Identifier(column.column), table
        )
        cursor.execute(was)
        write = sql.SQL(
            "UPDATE {0} SET {1} = {2} WHERE ctid = (SELECT ctid FROM {0} LIMIT 1)"
        ).format(
            table,
            sql.Identifier(column.column),
            sql.SQL("%s::jsonb" if isinstance(column, JSONField) else "%s"),
        )
        value = _planted_value(column, field, cursor.fetchone()[0])
        try:
            with transaction.atomic():
                cursor.execute(write, [value])
        except DatabaseError as refused:
            print(model._meta.label_lower, name, refused)
            return False
    return True


def _planted_value(column: Any, field: PersonalField, was: str | None) -> Any:
    if not isinstance(column, JSONField):
        return SPELT
    if field.keys:
        return json.dumps({**json.loads(was or "{}"), "user": "GHopper"})
    found = json.loads(was) if was else {}
    deep = {"rows": [["ghopper", {"ghopper": SPELT}], PLANTED.upper()]}
    return json.dumps(
        [*found, deep] if isinstance(found, list) else {**(found or {}), "planted": deep}
    )


def _has_made_row(model: Any) -> bool:
    """One row of what each column takes; what points elsewhere points nowhere, as nothing looks."""
    columns, values = [], []
    for field in model._meta.concrete_fields:
        columns.append(field.column)
        values.append(_made_value(field))
    insert = sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(
        sql.Identifier(model._meta.db_table),
        sql.SQL(", ").join(map(sql.Identifier, columns)),
        sql.SQL(", ").join(sql.SQL("%s") for _ in columns),
    )
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(insert, values)
    except DatabaseError as refused:
        print(model._meta.label_lower, refused)
        return False
    return True


def _made_value(field: Any) -> Any:
    if field.choices:
        return field.choices[0][0]
    if field.null:
        return None
    kind = field.db_type(connection) or ""
    if field.has_default():
        default = field.get_default()
        return json.dumps(default) if isinstance(field, JSONField) else default
    for begins, value in (
        ("jsonb", "{}"), ("timestamp", NOON), ("date", NOON.date()), ("tstzrange", "[2026-01-01,2026-01-02)"),
        ("bool", False), ("bytea", b"x"), ("text[]", []), ("varchar", "x"), ("text", "x"), ("uuid", None),
    ):  # fmt: skip
        if kind.startswith(begins):
            return value
    return [] if kind.endswith("[]") else 1


def rows_naming(text: str) -> list[str]:
    """Tables of which a row has the text anywhere, in any case."""
    with connection.cursor() as cursor:
        found = []
        for name in connection.introspection.table_names(cursor):
            held = sql.SQL("SELECT count(*) FROM {} AS held WHERE held::text ILIKE %s")
            cursor.execute(held.format(sql.Identifier(name)), [f"%{text}%"])
            if cursor.fetchone()[0]:
                found.append(name)
    return found
