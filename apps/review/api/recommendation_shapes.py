"""Answers of REST that are recommendations: what is proposed, its terms, its steps and what came of it."""

from typing import Any

from rest_framework import serializers

from apps.review.queries.measurements import STATUS_WORDS
from apps.review.queries.recommendation_evidence import RecommendationEvidence, RecommendedMove
from apps.review.queries.recommendations import (
    STATE_WORDS,
    VERB_WORDS,
    MeasuredSaving,
    RecommendationFact,
    RecommendationStepFact,
)
from apps.web.rest.gates import GateOut
from apps.web.rest.money import MoneyOut, NamedOut, RatioOut
from apps.web.rest.shapes import Answer, TextOrNullOut


class RecommendationEvidenceOut(Answer[RecommendationEvidence]):
    """A piece of evidence that a figure is from; `link` is its page, from the root on, empty where it has none."""

    without = ("is_price",)
    what = serializers.CharField(source="label")


class RecommendedMoveOut(Answer[RecommendedMove]):
    """The terms of a fleet move; what moving costs once is `one_time` of the recommendation, as far as it is known."""

    moves_from = serializers.CharField(source="source")
    moves_to = serializers.CharField(source="target")


class MoveWeekOut(serializers.Serializer[Any]):
    """A fleet move as the look of a week proposed it."""

    week = serializers.DateField()
    moves_to = serializers.CharField(source="target")
    saving_low = MoneyOut(source="saving.low")
    saving_likely = MoneyOut(source="saving.likely")
    saving_high = MoneyOut(source="saving.high")
    confidence = serializers.CharField()
    payback_months = RatioOut(allow_null=True)


class KindRecordOut(serializers.Serializer[Any]):
    """Record of the newest ten of a kind that were verified or failed; later ones of it promise `factor` of what is computed."""

    cases = serializers.IntegerField()
    verified = serializers.IntegerField()
    realised_ratio = serializers.FloatField(
        source="ratio", allow_null=True, help_text="realised over promised; null before the first"
    )
    factor = serializers.FloatField()


class RecommendationOut(Answer[RecommendationFact]):
    """A recommendation; amounts are of a month of 730 h at the marginal price, `saving_…` the p10, the median and the p90.

    No saving is above `spend`. Of one `exclusive_group` only those with `is_counted` may be added up. From the claim on
    it says what was promised then.
    """

    without = (
        *("team_id", "workload_id", "pool_id", "saving", "cells", "baseline", "worth_micros"),
        *("state_name", "owner_id"),
    )
    first = (
        *("id", "matter", "kind", "title", "subject", "team", "workload", "spend", "saving_low"),
        *("saving_likely", "saving_high", "range_basis", "frees_gpu_hours", "one_time"),
        *("effort_hours", "risk", "risk_reason", "why", "computed", "doubts", "evidence"),
        *("exclusive_group", "is_counted", "first_week", "last_week", "state", "state_at"),
        *("state_by", "state_reason", "owner", "due_on", "claimed_at", "snoozed_until", "done_at"),
        "kind_record",
    )
    matter = serializers.CharField(help_text="its key: the same from week to week")
    team = NamedOut(allow_null=True, help_text="null: the organisation's")
    workload = NamedOut(allow_null=True)
    spend = MoneyOut(source="spend_micros")
    saving_low = MoneyOut(source="saving.low")
    saving_likely = MoneyOut(source="saving.likely")
    saving_high = MoneyOut(source="saving.high")
    range_basis = serializers.CharField(
        help_text="measured, or assumed; empty of what was proposed before that was kept"
    )
    frees_gpu_hours = serializers.FloatField(
        allow_null=True, help_text="a month, on GPUs that are paid anyway"
    )
    one_time = MoneyOut(source="one_time_micros")
    risk = serializers.CharField(help_text="low, medium or high")
    computed = serializers.CharField(help_text="how the saving was")
    evidence = RecommendationEvidenceOut(many=True)
    state = serializers.ChoiceField(choices=tuple(STATE_WORDS))
    state_by = serializers.CharField(allow_null=True, help_text="null: Runrate itself")
    owner = serializers.CharField(allow_null=True, help_text="who sees to it")
    kind_record = KindRecordOut()
    move = RecommendedMoveOut(allow_null=True, help_text="null of what is no fleet move")


class RecommendationStepOut(Answer[RecommendationStepFact]):
    """A step of it; `who` null where Runrate itself did it."""

    without = ("recommendation_id",)
    verb = serializers.ChoiceField(choices=tuple(VERB_WORDS))
    who = TextOrNullOut()


class RecommendationOutcomeOut(serializers.Serializer[Any]):
    """The promised saving and the one that the ledger measured afterwards, a month of 730 h, against a counterfactual."""

    settled_at = serializers.DateTimeField()
    is_verified = serializers.BooleanField()
    promised = MoneyOut(source="promised.likely")
    measured_low = MoneyOut(source="measured.saving.low")
    measured = MoneyOut(source="measured.saving.likely")
    measured_high = MoneyOut(source="measured.saving.high")
    counterfactual = serializers.CharField(source="measured.counterfactual")
    would_have_cost = MoneyOut(source="measured.counterfactual_micros")
    did_cost = MoneyOut(source="measured.spend_micros")
    first_day = serializers.DateField(source="measured.first_day")
    last_day = serializers.DateField(source="measured.last_day")


class SavedSoFarOut(Answer[MeasuredSaving]):
    """The saving so far by the ledger's settled days, a month of 730 h, against a counterfactual.

    `work_before` and `work_since` are means of a day, in `unit` ("": cost was held against cost); `following` is the
    share of the cost before that moved with the work.
    """

    without = ("saving",)
    first = (
        *("low", "saved", "high", "counterfactual", "would_have_cost", "did_cost", "first_day"),
        *("last_day", "days", "before_days", "unit", "work_before", "work_since", "following"),
        *("method", "trend_weekly", "gates", "doubts"),
    )
    low = MoneyOut(source="saving.low")
    saved = MoneyOut(source="saving.likely")
    high = MoneyOut(source="saving.high")
    would_have_cost = MoneyOut(source="counterfactual_micros")
    did_cost = MoneyOut(source="spend_micros")
    method = serializers.CharField(
        allow_blank=True, help_text="how it was measured; empty of what was measured long ago"
    )
    trend_weekly = serializers.FloatField(
        allow_null=True,
        help_text="by which part of it the cost moved in a week anyway, which is carried on",
    )
    gates = GateOut(many=True)


class SavingMeasurementOut(serializers.Serializer[Any]):
    """A week's measurement of a recommendation that is done, beside its promise; null and `why` where it is not known.

    Verified and failed are said once, after four weeks or later; `unknown` is inconclusive so far, and `why` what it would
    take. `digest` is a SHA-256 of what was kept.
    """

    week = serializers.DateField()
    measured_at = serializers.DateTimeField()
    status = serializers.ChoiceField(choices=tuple(STATUS_WORDS))
    why = serializers.CharField()
    promised_low = MoneyOut(source="promise.low")
    promised = MoneyOut(source="promise.likely")
    promised_high = MoneyOut(source="promise.high")
    measured = SavedSoFarOut(allow_null=True)
    digest = serializers.CharField()


class WholeRecommendationOut(RecommendationOut):
    """A recommendation with its steps, in order, its measurements and its outcomes, the newest first.

    `move_weeks` are the weeks of a fleet move, in order; empty of any other kind.
    """

    steps = RecommendationStepOut(many=True)
    move_weeks = MoveWeekOut(many=True)
    measurements = SavingMeasurementOut(many=True)
    outcomes = RecommendationOutcomeOut(many=True)
