"""Enrolment over the wire: a one-time token in, an agent's own token out."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.fleet import actions
from apps.fleet.api import examples
from apps.fleet.api.wire import SOURCES
from apps.web.rest.strict import Strict, Text, parsed


class EnrolmentIn(Strict):
    """The invitation, and what came with it."""

    token = Text(max_length=100, write_only=True)
    # DRF's metaclass takes declared fields off the class, so nothing is overridden.
    source = serializers.ChoiceField(choices=SOURCES)  # type: ignore[assignment]
    version = Text(max_length=40)


class EnrolmentOut(serializers.Serializer[Any]):
    """The agent's own token, shown this once, and the node it writes."""

    token = serializers.CharField()
    node = serializers.CharField()


class Enrolments(APIView):
    """Where an agent comes first; the invitation is its whole credential."""

    authentication_classes = ()
    permission_classes = (AllowAny,)

    @extend_schema(
        operation_id="enrol_agent",
        request=EnrolmentIn,
        responses={201: EnrolmentOut},
        examples=[examples.ENROLMENT, examples.ENROLLED],
    )
    def post(self, request: Request) -> Response:
        """Enrol an agent; a second use of the invitation is refused."""
        asked = parsed(EnrolmentIn, request)
        enrolled = actions.enrol(
            secret=asked["token"],
            source=asked["source"],
            version=asked["version"],
            at=timezone.now(),
            good_for=timedelta(days=days) if (days := settings.AGENT_TOKEN_DAYS) else None,
        )
        answer = EnrolmentOut({"token": enrolled.secret, "node": enrolled.node_name})
        return Response(answer.data, status=201, headers={"Cache-Control": "no-store"})
