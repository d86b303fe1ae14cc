"""Every table: what it holds, how large it is, how long its rows stay, and what changes that."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.apps import apps
from django.db.models import Model
from django.urls import path

from apps.console.kit.cells import COUNT, PROSE, TEXT, Format
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.request import SEES_EVERYTHING, Context
from apps.console.kit.table import Table
from apps.console.pages.people.pages import tabs_of
from apps.console.pages.retention.backups import back_up_view, backups_card
from apps.console.pages.retention.rules import (
    FOR_GOOD,
    RetentionRule,
    limited_rules,
    retention_rule,
)
from apps.show.data import data_size
from apps.tables.column import Column
from apps.web.queries.table_sizes import TableSize, table_sizes

SIZE = Format(lambda size, _: data_size(size), lambda size, _: str(size), "number-cell")


@dataclass(frozen=True, slots=True)
class RetainedTable:
    """A table of the database, what a row of it is, and how long rows stay; None: not stated."""

    table: TableSize
    row_words: str
    rule: RetentionRule | None


TABLES = Table[RetainedTable](
    "tables",
    "Tables",
    (
        Column("table", "Table", lambda row: row.table.name, TEXT),
        Column("row_is", "A row is", lambda row: row.row_words, PROSE),
        Column("rows", "Rows, about", lambda row: row.table.rows, COUNT),
        Column("bytes", "Size", lambda row: row.table.size, SIZE),
        Column("kept", "Kept", lambda row: row.rule and row.rule.kept, PROSE,
               note=lambda row: row.rule.words if row.rule else "", missing="not stated"),
        Column("why", "", lambda row: row.rule and row.rule.why),
        Column("setting", "", lambda row: (row.rule and row.rule.setting) or None),
    ),
    noun=("table", "tables"),
    about="{said}; sizes with indexes, rows as Postgres last counted them",
    sort="sort",
    default_sort="-bytes",
    per_page=300,
)  # fmt: skip


def retained_tables() -> list[RetainedTable]:
    """Every table of the database with its rule."""
    models = {model._meta.db_table: model for model in apps.get_models(include_auto_created=True)}
    limited = limited_rules()
    return [_retained_table(size, models.get(size.name), limited) for size in table_sizes()]


@shown(SEES_EVERYTHING, "people")
def retention(context: Context) -> ConsolePage:
    """How long what is kept stays, table by table."""
    return _retention_page(context)


def _retention_page(context: Context) -> ConsolePage:
    stored_tables = retained_tables()
    size = sum(table.table.size for table in stored_tables)
    for_good = sum(1 for table in stored_tables if table.rule and table.rule.kept == FOR_GOOD)
    return ConsolePage(
        context=context,
        finding=f"{len(stored_tables)} tables take {data_size(size)}; rows of {len(stored_tables) - for_good} of "
        f"them are forgotten or removed one day, the others stay for good.",
        under=(
            "What amounts rest on is never forgotten. A setting is read when Runrate starts; what "
            "has none cannot be changed.",
            "What names a person can be taken out of all of them: People → Pseudonymise a person.",
        ),
        tabs=tabs_of("retention"),
        sections=(
            backups_card(context.at),
            TABLES.section(stored_tables, context, csv_name="retention"),
        ),
    )


def _retained_table(
    size: TableSize, model: type[Model] | None, limited: Mapping[str, RetentionRule]
) -> RetainedTable:
    tracked = getattr(model, "pgh_tracked_model", None)
    words = _row_words(model)
    if tracked is not None:
        words = f"A change of: {_row_words(tracked)}"
    label = model._meta.label_lower if model is not None else size.name
    return RetainedTable(
        size, words, retention_rule(label, limited, is_history=tracked is not None)
    )


def _row_words(model: type[Model] | None) -> str:
    """Return what a row is: what the model says of itself in its first sentence."""
    if model is None or not model.__module__.startswith("apps."):
        return "Of the framework."
    first, _, _ = (model.__doc__ or "").strip().splitlines()[0].partition(". ")
    return f"{first.replace('`', '').rstrip('.')}."


urlpatterns = [
    path("people/retention", retention, name="retention"),
    path("people/retention/back-up", back_up_view(_retention_page), name="back-up"),
]
