"""The rows of one table in which a name stands, found in slices and rewritten."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, LiteralString

from django.contrib.postgres.fields import ArrayField
from django.db import Error, connection, transaction
from django.db.models import IntegerField, JSONField, Model, UUIDField
from psycopg import sql

from apps.personal.fields import PersonalField, personal_fields, reseal_of
from apps.personal.names import TakenNames

SLICE, WRITTEN_AT_ONCE = 20_000, 2_000
"""So many ids are looked through by one statement, however large the table."""
MOST_ALIKE = 1_000
UNIQUE_VIOLATION = "23505"
Row = tuple[Any, ...]


def rename_table(model: type[Model], names: TakenNames) -> int:
    """Write pseudonyms for these names in every personal column of a table; how many rows changed."""
    fields = personal_fields(model)
    if not fields:
        return 0
    changed_keys = []
    for rows in _rows_naming(model, fields, names):
        changed = [new for row in rows if (new := _renamed_row(model, fields, row, names))]
        _write_rows(model, fields, changed)
        changed_keys += [row[-1] for row in changed]
    reseal = reseal_of(model)
    if reseal is not None and changed_keys:
        # Once, however many slices there were: it may read the whole table.
        reseal(changed_keys)
    return len(changed_keys)


def _rows_naming(
    model: type[Model], fields: Mapping[str, PersonalField], names: TakenNames
) -> Iterator[Sequence[Row]]:
    """Key and values of rows that have any spelling of a name in them, by slices of the key."""
    columns = [
        sql.SQL("{}::text" if _is_json(model, name) else "{}").format(_column(model, name))
        for name in fields
    ]
    holds = [sql.SQL("{}::text ILIKE ANY(%s)").format(_column(model, name)) for name in fields]
    query = sql.SQL("SELECT {columns} FROM {table} WHERE ({holds})").format(
        columns=sql.SQL(", ").join([*_keys(model), *columns]),
        table=sql.Identifier(model._meta.db_table),
        holds=sql.SQL(" OR ").join(holds),
    )
    params = [names.like_patterns] * len(fields)
    for within, span in _slices(model):
        with connection.cursor() as cursor:
            # Nobody changes one of them before it is written back.
            cursor.execute(query + within + sql.SQL(" FOR UPDATE"), [*params, *span])
            yield cursor.fetchall()


def _slices(model: type[Model]) -> Iterator[tuple[sql.Composable, list[int]]]:
    """Conditions that together are all rows: spans of a whole number that is the key, else one."""
    keys = _keys(model)
    if len(keys) > 1 or not isinstance(model._meta.pk_fields[0], IntegerField):
        yield sql.SQL(""), []
        return
    (column,), table = keys, sql.Identifier(model._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL("SELECT min({0}), max({0}) FROM {1}").format(column, table))
        least, most = cursor.fetchone()
    if least is None:
        return
    within = sql.SQL(" AND {0} >= %s AND {0} < %s").format(column)
    for first in range(least, most + 1, SLICE):
        yield within, [first, first + SLICE]


def _renamed_row(
    model: type[Model], fields: Mapping[str, PersonalField], row: Row, names: TakenNames
) -> Row | None:
    """Return the row to be written: the columns, then the key; None where no name is a word of it."""
    keys = len(model._meta.pk_fields)
    was = [
        json.loads(value) if value is not None and _is_json(model, name) else value
        for name, value in zip(fields, row[keys:], strict=True)
    ]
    new = [
        value if value is None else field.renamed(value, names)
        for field, value in zip(fields.values(), was, strict=True)
    ]
    return None if new == was else (*new, *row[:keys])


def _write_rows(
    model: type[Model], fields: Mapping[str, PersonalField], changed: Sequence[Row]
) -> None:
    """In one statement for each two thousand rows; what is null stays what it was."""
    names = [_column_name(field) for field in model._meta.pk_fields]
    written = [*map(model._meta.get_field, fields)]
    columns = [_column_name(field) for field in written]
    types = [
        sql.SQL("{} {}").format(
            sql.Identifier(_column_name(field)), sql.SQL(_recordset_type(field))
        )
        for field in (*written, *model._meta.pk_fields)
    ]
    write = sql.SQL(
        "UPDATE {table} AS kept SET {columns} FROM jsonb_to_recordset(%s::jsonb) AS new ({types}) WHERE {keys}"
    ).format(
        table=sql.Identifier(model._meta.db_table),
        columns=sql.SQL(", ").join(
            [
                sql.SQL("{0} = COALESCE(new.{0}, kept.{0})").format(sql.Identifier(column))
                for column in columns
            ]
        ),
        types=sql.SQL(", ").join(types),
        keys=sql.SQL(" AND ").join(
            [sql.SQL("new.{0} = kept.{0}").format(sql.Identifier(name)) for name in names]
        ),
    )
    for start in range(0, len(changed), WRITTEN_AT_ONCE):
        some = changed[start : start + WRITTEN_AT_ONCE]
        rows = [dict(zip([*columns, *names], row, strict=True)) for row in some]
        if not _is_written(write, rows):
            for row in rows:
                _write_apart(model, write, row, columns)


def _is_written(write: sql.Composed, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Write rows; False where the database holds one of them against a row that has its values."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(write, (json.dumps(rows, default=str),))
    except Error as refusal:
        if getattr(refusal.__cause__, "sqlstate", None) != UNIQUE_VIOLATION:
            raise
        return False
    return True


def _write_apart(
    model: type[Model], write: sql.Composed, row: Mapping[str, Any], columns: Sequence[str]
) -> None:
    """Write one row; where another has its name already, which two spellings had apart, with a number after it."""
    if _is_written(write, [row]):
        return
    numbered = [
        name for name in columns if isinstance(row[name], str) and not _is_document(model, name)
    ]
    for number in range(2, MOST_ALIKE):
        apart = {**row, **{name: f"{row[name]}-{number}" for name in numbered}}
        if _is_written(write, [apart]):
            return
    raise ValueError(f"{model._meta.label_lower} has {MOST_ALIKE} rows of one name")


def _is_document(model: type[Model], column: str) -> bool:
    matching_fields = (field for field in model._meta.concrete_fields if field.column == column)
    return isinstance(next(matching_fields), JSONField)


def _recordset_type(field: Any) -> LiteralString:
    """As which type a value comes back out of JSON; of what points at a row, as that row's key."""
    while field.is_relation:
        field = field.target_field
    if isinstance(field, ArrayField):
        return "text[]"
    if isinstance(field, JSONField):
        return "jsonb"
    if isinstance(field, UUIDField):
        return "uuid"
    return "bigint" if isinstance(field, IntegerField) else "text"


def _column_name(field: Any) -> str:
    return str(field.column)


def _keys(model: type[Model]) -> list[sql.Identifier]:
    return [sql.Identifier(_column_name(field)) for field in model._meta.pk_fields]


def _column(model: type[Model], name: str) -> sql.Identifier:
    return sql.Identifier(_column_name(model._meta.get_field(name)))


def _is_json(model: type[Model], name: str) -> bool:
    """Whether a column is a document; a list of texts is none."""
    return isinstance(model._meta.get_field(name), JSONField)
