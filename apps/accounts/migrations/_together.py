"""Changes of an app's tables made together: Django draws its picture of all models once, not for each.

Migrating an empty database spends nearly all its time on that picture, which is drawn again after
every table, column and trigger, each time with all that refers to it.
"""

from collections.abc import Sequence

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations import AddField, AlterField, CreateModel
from django.db.migrations.operations.base import Operation
from django.db.migrations.operations.models import IndexOperation
from django.db.migrations.state import ProjectState
from pgtrigger.migrations import AddTrigger


class ChangedTogether(Operation):
    """Operations in this order, each from the picture before all of them to the one after all.

    A table that one of them makes is made as it is after all of them: none of the others may
    change it.
    """

    def __init__(self, *operations: Operation) -> None:
        self.operations = operations

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        """Put the changes into the state; of its picture what they touch is drawn anew.

        All of it, when it is next asked for, where they touch more than models of their own.
        """
        touched = {_only_touched(operation, app_label, state) for operation in self.operations}
        drawn = state.__dict__.pop("apps", None)
        for operation in self.operations:
            operation.state_forwards(app_label, state)
        if drawn is not None and None not in touched:
            state.apps = drawn
            state.reload_models(list(touched), delay=True)

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        """Make each change in the database."""
        for operation in self.operations:
            operation.database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        """Take each change back, the last one first."""
        for operation in reversed(self.operations):
            # A trigger is taken from its table while that is there.
            before = from_state if isinstance(operation, AddTrigger) else to_state
            operation.database_backwards(app_label, schema_editor, from_state, before)

    def describe(self) -> str:
        """Say what `migrate --plan` prints."""
        return "; ".join(operation.describe() for operation in self.operations)


class CreatedTogether(ChangedTogether):
    """Tables, whole with their indexes and constraints, then the triggers on them."""

    def __init__(self, models: Sequence[CreateModel], triggers: Sequence[AddTrigger] = ()) -> None:
        super().__init__(*models, *triggers)

    def describe(self) -> str:
        """Say what `migrate --plan` prints."""
        return f"Create {len(self.operations)} tables and triggers together"


def _only_touched(
    operation: Operation, app_label: str, state: ProjectState
) -> tuple[str, str] | None:
    """The model that it changes, where it changes no other and nothing that others refer to."""
    if not isinstance(operation, AddField | AlterField | IndexOperation):
        return None
    key = app_label, operation.model_name_lower
    if isinstance(operation, AddField | AlterField):
        model = state.models.get(key)
        before = model and model.fields.get(operation.name)
        for field in (operation.field, before):
            if field is not None and (field.is_relation or field.primary_key):
                return None
    return key
