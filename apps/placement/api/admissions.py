"""Admissions over REST: may a job start, by budgets and quotas; read, and overridden with a reason."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.queries import organisation, teams
from apps.economics.money import MICROS
from apps.fleet import queries as fleet
from apps.ledger.rest.parameters import parse_window
from apps.placement import actions
from apps.placement.api.callers import PlacementView
from apps.placement.api.quotes import requested_team_id
from apps.placement.queries.admission_limits import (
    HOURS_OF_JOB,
    VERDICTS,
    AdmissionJob,
    LimitCheck,
)
from apps.placement.queries.admissions import (
    AdmissionFact,
    AdmissionsWanted,
    admission,
    admission_page,
    limit_names,
    wanted_admissions,
)
from apps.placement.queries.admissions_shown import (
    NOT_SHOWN_LIMIT,
    admissions_within,
    shown_limits,
    visible_admission,
    visible_budget_ids,
)
from apps.placement.queries.placement_scope import PlacementScope
from apps.web.rest.idempotency import once
from apps.web.rest.money import MoneyOut, RatioOut
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as
from apps.web.rest.schema import PAGES, REPEAT_KEY
from apps.web.rest.shapes import AmountIn, Answer, BodyFields, TextOrNullOut
from apps.web.rest.strict import (
    OptionalText,
    Parameters,
    StrictSerializer,
    Text,
    ids_named,
    parsed,
    refuse_others,
    split_words,
)
from apps.web.rest.views import CanManageBilling, RestView
from apps.workloads import queries as workloads


class OverridesAdmission(CanManageBilling):
    """Permission to override admissions: for the people and tokens that keep bills, not for those that ask."""

    message = "admissions are overridden by finance and platform, and with the organisation's 'manage' tokens"


class AdmissionIn(BodyFields[AdmissionJob]):
    """A job. Its work is `gpu_hours`, or `hours` of all its GPUs; its GPUs are of a pool, or of a model (at a provider, in a region).

    Without `estimated_cost`, in the organisation's currency, it is priced from the newest offer book.
    """

    without = ("team_id", "workload_id", "pool_id", "cost_micros", "cost_from")
    team = Text()
    workload = OptionalText(help_text="the name of one of the team's")
    hours = serializers.FloatField(
        required=False,
        allow_null=True,
        default=None,
        min_value=HOURS_OF_JOB.least,
        max_value=HOURS_OF_JOB.most,
    )
    pool = OptionalText()
    estimated_cost = AmountIn(digits=12, places=6, required=False, allow_null=True, default=None)


class AdmissionFilters(Parameters):
    """The filters of the page of admissions; `held_against` is its `limit`, which here is how many are answered."""

    window = OptionalText(help_text="as of costs; without it all time")
    answer = serializers.ChoiceField(choices=VERDICTS, required=False, default="")
    team = OptionalText(help_text="names, by comma; those below are there too")
    held_against = OptionalText(
        help_text="what they were held against: `budget:` or `quota:` and its id"
    )


class OverrideIn(StrictSerializer):
    """Why it may start all the same."""

    reason = Text(max_length=actions.LONGEST_OVERRIDE_REASON)


class AdmissionLimitOut(Answer[LimitCheck]):
    """A budget or quota that the job counts against, in `unit`; null: not known, of quotas nothing is expected.

    `left_now` is less what came, provisional lines too; `left_expected` when the rest of the period comes as expected.
    """

    first = ("kind", "id", "name", "is_hard", "standing", "verdict")
    verdict = serializers.ChoiceField(choices=VERDICTS)


class AdmissionOut(Answer[AdmissionFact]):
    """The answer to an admission, and whether somebody let the job pass all the same; null: not known, or not overridden."""

    without = ("team_id", "job", "answer")
    first = ("id", "asked_at", "asked_by", "team", "workload", "gpus", "gpu_hours", "pool")
    asked_by = serializers.CharField(source="asked_name", help_text="the person or the token")
    gpus = serializers.IntegerField(source="job.gpus")
    gpu_hours = RatioOut(allow_null=True, source="job.gpu_hours")
    gpu_model = serializers.CharField(source="job.gpu_model")
    provider = serializers.CharField(source="job.provider")
    region = serializers.CharField(source="job.region")
    cost = MoneyOut(allow_null=True, source="answer.cost_micros")
    cost_from = serializers.CharField(source="answer.cost_from")
    verdict = serializers.ChoiceField(choices=VERDICTS)
    is_admitted = serializers.BooleanField(help_text="not denied, or overridden")
    reasons = serializers.ListField(child=serializers.CharField())
    limits = AdmissionLimitOut(many=True)
    overridden_by = TextOrNullOut(source="overridden_name")
    override_reason = TextOrNullOut()
    used_at = serializers.DateTimeField(
        allow_null=True, help_text="when the one job that an override is for passed by it"
    )
    used_by = TextOrNullOut(
        help_text="which: `job:` and its id, or `task:` and the digest of a task of SkyPilot",
    )
    digest = serializers.CharField(help_text="of the job and every figure it was held against")


class Admissions(PlacementView):
    """Admissions show amounts of budgets: who sees prices reads all, and a scheduler or a team what it may ask."""

    row = AdmissionOut

    @extend_schema(
        operation_id="list_admissions",
        parameters=[AdmissionFilters, *PAGES],
        responses=list_of(AdmissionOut),
    )
    def get(self, request: Request) -> Response:
        """The newest first; without a window of all time."""
        scope = self.scope()
        page = admission_page(_parse_admission_filters(request, scope), parse_page_request(request))
        seen_ids = visible_budget_ids(scope)
        return paged(request, page, lambda fact: serialize_admission(fact, seen_ids))

    @extend_schema(
        operation_id="ask_admission",
        parameters=[REPEAT_KEY],
        request=AdmissionIn,
        responses={201: AdmissionOut},
    )
    @once()
    def post(self, request: Request) -> Response:
        """May a job start: allow, warn or deny, by budgets and quotas, with reasons. Nothing is reserved by it."""
        body, scope = parsed(AdmissionIn, request), self.scope()
        admission_id = actions.request_admission(
            job=_parse_job(body, scope), by=self.viewer(), at=timezone.now()
        )
        return Response(
            serialize_admission(admission(admission_id), visible_budget_ids(scope)), status=201
        )


class OneAdmission(PlacementView):
    """One admission."""

    @extend_schema(operation_id="get_admission", responses=AdmissionOut)
    def get(self, request: Request, admission_id: int) -> Response:
        """As it was answered, and who overrode it."""
        Parameters.of(request)
        scope = self.scope()
        fact = visible_admission(admission_id, scope)
        return Response(serialize_admission(fact, visible_budget_ids(scope)))


class OverriddenAdmission(RestView):
    """A job that was denied, and may start all the same."""

    changes = (OverridesAdmission,)

    @extend_schema(
        operation_id="override_admission",
        parameters=[REPEAT_KEY],
        request=OverrideIn,
        responses={200: AdmissionOut},
    )
    @once()
    def post(self, request: Request, admission_id: int) -> Response:
        """Let one denied job pass; who, when and why are kept, in the audit trail too, and when and by which job it was used."""
        actions.override_admission(
            admission_id=admission_id,
            reason=parsed(OverrideIn, request)["reason"],
            by=self.viewer(),
            at=timezone.now(),
        )
        return Response(serialize_admission(admission(admission_id), None))


def serialize_admission(fact: AdmissionFact, seen_budgets: frozenset[int] | None) -> dict[str, Any]:
    """An admission as REST answers it; the limits that decided come first.

    Of limits that are none of `seen_budgets` (None: every limit is shown) only how they were answered is said.
    """
    limits, hidden = shown_limits(fact, seen_budgets)
    reasons = [f"{limit['name']}: {limit['reason']}" for limit in limits]
    reasons += [f"{NOT_SHOWN_LIMIT}: {verdict}" for verdict in hidden]
    notes = fact.answer["notes"] if seen_budgets is None else []
    return serialize_as(
        AdmissionOut, fact, organisation().currency, reasons=reasons + notes, limits=limits
    )


def _parse_admission_filters(request: Request, scope: PlacementScope) -> AdmissionsWanted:
    """Return what the filters ask for of the caller's admissions; refuses a ValidationError that names each."""
    filters = AdmissionFilters.of(request)
    limit = filters["held_against"]
    refuse_others("held_against", filter(None, [limit]), limit_names(visible_budget_ids(scope)))
    ids = {team.name: [team.id] for team in teams() if scope.covers_team(team.id)}
    wanted = wanted_admissions(
        parse_window(filters["window"], timezone.now()) if filters["window"] else None,
        ids_named("team", split_words(filters["team"]), ids),
        filters["answer"],
        limit,
    )
    return admissions_within(wanted, scope)


def _parse_job(body: dict[str, Any], scope: PlacementScope) -> AdmissionJob:
    """The job that a body describes; refuses a ValidationError that names the field."""
    team_id = requested_team_id(body["team"], scope)
    if team_id is None:
        raise ValidationError({"team": ["say whose job it is"]})
    if body["gpu_hours"] is not None and body["hours"] is not None:
        raise ValidationError({"hours": ["say GPU-hours, or hours of all the GPUs: one of them"]})
    hours, estimate = body["hours"], body["estimated_cost"]
    workload_ids = {
        workload.name: workload.id
        for workload in workloads.workloads().values()
        if workload.team_id == team_id
    }
    in_reach = scope.pool_ids
    pools = {
        pool.name: pool.id
        for pool in fleet.pools().values()
        if in_reach is None or pool.id in in_reach
    }
    if in_reach is not None and not body["pool"]:
        raise ValidationError({"pool": ["this token is of one cluster: say a pool of it"]})
    return AdmissionJob(
        team_id=team_id,
        gpus=body["gpus"],
        workload_id=_id_named("workload", body["workload"], workload_ids),
        gpu_hours=body["gpu_hours"] if hours is None else hours * body["gpus"],
        pool_id=_id_named("pool", body["pool"], pools),
        cost_micros=None if estimate is None else int(estimate * MICROS),
        **{name: body[name] for name in ("gpu_model", "provider", "region")},
    )


def _id_named(field: str, name: str, ids_by_name: dict[str, int]) -> int | None:
    if name and name not in ids_by_name:
        raise ValidationError({field: [f"there is no {field} named {name!r}"]})
    return ids_by_name.get(name)
