"""Rows by the thousand, put in by COPY: the ORM's INSERT takes several times as long for each."""

from collections.abc import Mapping, Sequence

from django.db import connection
from django.db.models import Model
from django.db.models.fields import NOT_PROVIDED
from psycopg.sql import SQL, Identifier


def copy_rows(model: type[Model], rows: Sequence[Mapping[str, object]]) -> None:
    """Put rows of these columns, the same in each, into the table of a model; others have its defaults."""
    if not rows:
        return
    given = rows[0].keys()
    defaults = {
        field.column: field.get_db_prep_save(field.get_default(), connection)
        for field in model._meta.concrete_fields
        if field.column not in given
        and (field.has_default() or field.db_default is NOT_PROVIDED)
        and field.get_default() is not None
    }
    names = SQL(", ").join(map(Identifier, (*given, *defaults)))
    statement = SQL("COPY {} ({}) FROM STDIN").format(Identifier(model._meta.db_table), names)
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row((*row.values(), *defaults.values()))


def next_ids(model: type[Model], count: int) -> list[int]:
    """The next numbers of a model's rows, which nobody else gets."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)",
            [model._meta.db_table, count],
        )
        return [number for (number,) in cursor.fetchall()]
