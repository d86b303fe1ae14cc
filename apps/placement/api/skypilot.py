"""SkyPilot's admin policy: its API server asks whether a task may be launched, and is told where."""

from typing import cast

from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ParseError
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.authentication import BearerToken, TokenAsPassword, needs
from apps.accounts.queries import Scope, TokenFact
from apps.economics.refusal import Refusal
from apps.files.limits import BodyKind
from apps.placement import actions
from apps.placement.api.skypilot_wire import SkyRequest, sky_answer, sky_request
from apps.placement.queries.skypilot_tasks import LOOKED_AT
from apps.web.rest.strict import Parameters
from apps.web.rest.views import RestView

TEXT = "text/plain"


class SkyPolicy(RestView):
    """For SkyPilot's API server, with a token of the scope `schedule`, as a bearer or as a password."""

    authentication_classes = (BearerToken, TokenAsPassword)
    body = BodyKind.POLICY

    def get_permissions(self) -> list[BasePermission]:
        """A scheduler's token."""
        return [needs(Scope.SCHEDULE)()]

    @extend_schema(
        operation_id="apply_skypilot_policy",
        request=OpenApiTypes.STR,
        responses={200: OpenApiTypes.STR, (400, TEXT): OpenApiTypes.STR},
    )
    def post(self, request: Request) -> Response | HttpResponse:
        """Allow, warn or deny a task of SkyPilot, by budgets and quotas, and place it by its quote.

        As SkyPilot's `admin_policy` sends it: a JSON string that holds JSON, and the same back. 400 is a refusal whose text SkyPilot shows.
        """
        try:
            Parameters.of(request)
            policy_request = sky_request(request.data)
            decision = self._task_decision(request, policy_request)
        except (Refusal, ParseError) as refused:
            return _refused_answer(f"Runrate: {refused}")
        if decision.refusal:
            return _refused_answer(decision.refusal)
        return Response(sky_answer(decision.task, policy_request.config))

    def _task_decision(self, request: Request, policy_request: SkyRequest) -> actions.SkyDecision:
        """A client's own question is answered without a change: its API server asks again."""
        decision = actions.decide_sky_task(
            task=policy_request.task,
            request_name=policy_request.name,
            is_looked_at=policy_request.is_of_client
            or policy_request.is_dry_run
            or policy_request.name in LOOKED_AT,
            by=actions.SkyAsker(
                cast(TokenFact, request.auth),
                self.viewer(),
                policy_request.user,
                policy_request.workspace,
            ),
            at=timezone.now(),
        )
        if policy_request.is_of_client and not decision.refusal:
            return actions.SkyDecision(policy_request.task)
        return decision


def _refused_answer(words: str) -> HttpResponse:
    return HttpResponse(words, status=400, content_type=f"{TEXT}; charset=utf-8")
