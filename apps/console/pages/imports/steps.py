"""Actions of people on a file that is on its way in, on its own page: of jobs, or of a history."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from apps.console.kit.change import Act, ChangeForm, Done
from apps.console.kit.form import FormSection
from apps.console.kit.page import ConsolePage
from apps.console.kit.request import Context
from apps.uploads.imports import ImportAlreadyOver, ImportNotReady

REFUSALS = (ImportNotReady, ImportAlreadyOver)
BUSY = frozenset({"looking", "waiting", "running"})
STATES = {
    "looking": "being looked at",
    "asking": "waits for you",
    "waiting": "about to run",
    "running": "running",
    "done": "done",
    "failed": "broken off",
    "discarded": "discarded",
}


@dataclass(frozen=True, slots=True)
class FileOnItsWay:
    """A file whose import has an `address` (what `redirect` takes), and the page that is drawn there again where a form is wrong."""

    name: str
    address: tuple[Any, ...]
    page: Callable[[ChangeForm], ConsolePage]

    def act(
        self,
        context: Context,
        then: str,
        action: Callable[[Mapping[str, Any]], None],
        form: ChangeForm | None = None,
    ) -> Act:
        """Return what is done with the file; `then` says what it is afterwards."""

        def apply(entered: Mapping[str, Any]) -> Done:
            action(entered)
            return f"{self.name} is {then}.", self.address

        return Act(
            form=form or ChangeForm(context.sent, context, is_sent=True),
            apply=apply,
            page=self.page,
            refusals=REFUSALS,
            status=409,
        )


def discard_form(action: str, button: str) -> FormSection:
    """The button that gives a file up."""
    return FormSection(name="discard", action=action, button=button)
