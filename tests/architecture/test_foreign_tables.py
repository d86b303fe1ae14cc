"""SQL goes by the floor plan too: which app's statements name which other app's tables."""

import re
from collections import Counter
from collections.abc import Iterator

import pytest
from django.apps import apps
from django.db import connection

from tests.architecture.python_sources import PythonSource, python_sources

# How often statements of an app name a table of another. It may only shrink: ask the other app's
# queries, or a view of facts that it publishes. The audit is not in it: it proves the ledger from
# the tables as they are, and shares no way of asking with what it proves.
FOREIGN: dict[str, dict[str, int]] = {}
# Everybody's changes are in the history tables of all apps, and nothing else tells them in one list.
READS_EVERY_HISTORY = {"apps/accounts/queries/trail.py"}
# It lists tables by name, and reads no row of them.
LISTS_EVERY_TABLE = {"apps/console/pages/retention/pages.py"}
# It knows tables of closed months by name, and looks up which of their columns may name a person.
DIGESTS_CLOSED_MONTHS = {"apps/ledger/queries/closes/month_digests.py"}
# It takes a name out of what each app declares as personal.
REWRITES_EVERY_TABLE = {"apps/accounts/actions/renaming.py"}


def test_statements_name_tables_of_their_own_app_and_ever_fewer_others() -> None:
    found = Counter(_foreign_names())
    known = Counter({(app, table): n for app, of in FOREIGN.items() for table, n in of.items()})

    assert found - known == Counter(), "ask the app whose table this is"
    assert known - found == Counter(), "these are gone: take them out of the list"


def test_no_statement_is_given_its_table_where_nobody_sees_it() -> None:
    found = {str(source.path) for source in _of_apps() if "_meta.db_table" in source.text}
    known = READS_EVERY_HISTORY | LISTS_EVERY_TABLE | REWRITES_EVERY_TABLE
    assert found == known | DIGESTS_CLOSED_MONTHS


@pytest.mark.django_db
def test_a_view_of_facts_shows_columns_of_its_one_table_and_nothing_else() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT viewname, definition FROM pg_views WHERE schemaname = 'public'")
        views = dict(cursor.fetchall())

    assert views
    for name, definition in views.items():
        plain = re.fullmatch(r"SELECT [\w\s,\"]+ FROM (\w+);", " ".join(definition.split()))
        assert plain is not None, (
            f"{name} does more than show columns, so it may not be planned away"
        )
        assert name == f"{plain[1]}_fact"


def _foreign_names() -> Iterator[tuple[str, str]]:
    """(app, table) for each time that a text of the app's code, which no docstring is, names one."""
    owners = {
        model._meta.db_table: model._meta.app_label
        for model in apps.get_models(include_auto_created=True)
    }
    longest_first = sorted(map(re.escape, owners), key=len, reverse=True)
    name = re.compile(rf"\b({'|'.join(longest_first)})\b")
    for source in _of_apps():
        for table in (table for text in source.strings for table in name.findall(text)):
            if owners[table] != source.room:
                yield source.room, table


def _of_apps() -> Iterator[PythonSource]:
    for source in python_sources():
        if source.path.parts[0] == "apps" and not source.path.name.startswith("audit"):
            yield source
