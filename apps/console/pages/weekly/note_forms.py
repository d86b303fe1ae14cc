"""The forms of what people add to a review."""

from apps.console.kit.change import ChangeForm
from apps.console.kit.entered import FormOf
from apps.console.kit.entries import ParsedField, PickField, TextField
from apps.review import actions
from apps.review.queries.weekly.notes import DECISION_WORDS
from apps.workloads.queries.returns import EnteredScore, EnteredValue

DIRECTIONS = {"higher": "Higher is better", "lower": "Lower is better"}


def _score_value(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError("Say it in figures, as in 0.918.") from None


class ReviewNoteForm(ChangeForm):
    """A comment on a week."""

    text = TextField("Comment", needed="Say something.", longest=actions.LONGEST_REVIEW_NOTE)


class WorkloadNoteForm(ChangeForm):
    """Form of what is decided about a workload, and why."""

    decision = PickField("Decision", {"": "none, a comment only", **DECISION_WORDS})
    text = TextField("Comment", longest=actions.LONGEST_REVIEW_NOTE)


class ValueForm(FormOf[EnteredValue]):
    """Form of what one unit is worth."""


class ScoreForm(FormOf[EnteredScore]):
    """How good its results were."""

    value = ParsedField("Value", _score_value)
    direction = PickField("Which way is better", DIRECTIONS, initial="higher")
    field_order = ("name", "value", "direction", "day")
