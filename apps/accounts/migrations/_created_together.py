"""Tables of an app, made together: Django draws its picture of all models once, not once a table.

Migrating an empty database spends nearly all its time on that picture, which is drawn again after
every table and every trigger, each time with all that refers to it.
"""

from collections.abc import Sequence

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations import CreateModel
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState
from pgtrigger.migrations import AddTrigger


class CreatedTogether(Operation):
    """Tables, whole with their indexes and constraints, then the triggers on them.

    Nothing takes it back: before it, the app has nothing in the database.
    """

    reversible = False

    def __init__(self, models: Sequence[CreateModel], triggers: Sequence[AddTrigger] = ()) -> None:
        self.operations: tuple[Operation, ...] = (*models, *triggers)

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        """Put the models into the state; its picture is drawn when it is next asked for."""
        state.__dict__.pop("apps", None)
        for operation in self.operations:
            operation.state_forwards(app_label, state)

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        """Make the tables as they are after all of them: which one comes first is all the same."""
        for operation in self.operations:
            operation.database_forwards(app_label, schema_editor, from_state, to_state)

    def describe(self) -> str:
        """Say what `migrate --plan` prints."""
        return f"Create {len(self.operations)} tables and triggers together"
