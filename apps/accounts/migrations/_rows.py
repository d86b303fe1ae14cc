"""Rows that a migration changes by Python."""

from typing import Any

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations import RunPython
from django.db.migrations.state import ProjectState


class ChangedRows(RunPython):
    """Python that is run where the table of the rows has any.

    An empty database then needs no picture of all models, which Django draws for it.
    """

    def __init__(self, table: str, code: Any, reverse_code: Any = None) -> None:
        super().__init__(code, reverse_code)
        self.table = table

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        """Change the rows that there are."""
        with schema_editor.connection.cursor() as cursor:
            cursor.execute(f"SELECT 1 FROM {self.table} LIMIT 1")
            has_rows = cursor.fetchone() is not None
        if has_rows:
            super().database_forwards(app_label, schema_editor, from_state, to_state)
