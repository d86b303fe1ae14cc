"""An app's tables made at once from a file of SQL, which Django's picture of them stands beside.

Making them from models costs several times as much: the picture of all models is drawn for it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations import CreateModel
from django.db.migrations.state import ProjectState
from pgtrigger.compiler import Trigger
from pgtrigger.migrations import AddTrigger

from apps.accounts.migrations._together import CreatedTogether


class TablesOfFile(CreatedTogether):
    """All tables of an app by the SQL of `file`, which lies beside its migration; then triggers.

    `models` are for Django's state alone.
    """

    reversible = False
    serialization_expand_args = ["models", "triggers"]

    def __init__(
        self, file: str, models: Sequence[CreateModel], triggers: Sequence[AddTrigger]
    ) -> None:
        super().__init__(models, triggers)
        self.file = file
        self.models = models
        self.triggers = triggers

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        """Put the models into the state; into its picture, where there is one, these alone.

        Nothing that is in it can refer to them yet.
        """
        drawn = state.__dict__.pop("apps", None)
        for operation in self.operations:
            operation.state_forwards(app_label, state)
        if drawn is not None:
            state.apps = drawn
            drawn.render_multiple(
                [state.models[app_label, model.name_lower] for model in self.models]
            )

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        """Run the file, then each trigger's own statement; no model is drawn."""
        folder = Path(__file__).parents[2] / app_label / "migrations"
        schema_editor.execute((folder / self.file).read_text(), params=None)
        for operation in self.triggers:
            # As a migration has it, compiled, it knows its table without a model.
            trigger = cast("Trigger", operation.trigger)
            schema_editor.execute(trigger.install_sql, params=None)

    def describe(self) -> str:
        """Say what `migrate --plan` prints."""
        return f"Create the tables of {self.file}"
