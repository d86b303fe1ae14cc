"""The forms of what people add to a review."""

from apps.console.kit.change import ChangeForm
from apps.console.kit.entries import AmountField, DayField, ParsedField, PickField, TextField
from apps.review import actions
from apps.review.queries.weekly.notes import DECISION_WORDS
from apps.workloads.actions import returns
from apps.workloads.queries.returns import VALUE_UNITS

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


class ValueForm(ChangeForm):
    """Form of what one unit is worth."""

    unit = PickField("Unit", VALUE_UNITS)
    low = AmountField("Worth at least, in {currency}", "Both ends empty: no value any more.")
    high = AmountField("Worth at most, in {currency}", "The same where you are sure.")
    valid_from = DayField("From")
    note = TextField("Why", "How you know, for whoever reads it.", longest=returns.LONGEST_NOTE)


class ScoreForm(ChangeForm):
    """How good its results were."""

    name = TextField("Score", "Such as accuracy, or tickets solved.", needed="Say which score.")
    value = ParsedField("Value", _score_value)
    direction = PickField("Which way is better", DIRECTIONS, initial="higher")
    day = DayField("Day")
