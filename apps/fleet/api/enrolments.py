"""Enrolment over the wire: a one-time token in, an agent's own token out."""

from collections.abc import Mapping
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

from apps.files.limits import BodyKind
from apps.fleet import actions
from apps.fleet.api.wire import SOURCES
from apps.web.rest.strict import OptionalText, StrictSerializer, Text, parsed


class EnrolmentIn(StrictSerializer):
    """The invitation or join token, and what came with it."""

    token = Text(max_length=100, write_only=True)
    # DRF's metaclass takes declared fields off the class, so nothing is overridden.
    source = serializers.ChoiceField(choices=SOURCES)  # type: ignore[assignment]
    version = Text(max_length=40)
    node = Text(
        required=False, max_length=253, help_text="the machine's name; needed with a join token"
    )
    machine = OptionalText(
        max_length=100, help_text="what tells this machine from another of its name"
    )


class EnrolmentOut(serializers.Serializer[Any]):
    """The agent's own token, shown this once, the node it writes, and what it may do."""

    token = serializers.CharField()
    node = serializers.CharField()
    scopes = serializers.ListField(child=serializers.CharField())


class Enrolments(APIView):
    """Where an agent comes first; an invitation or a join token is its whole credential."""

    body = BodyKind.SIGN_IN
    authentication_classes = ()
    permission_classes = (AllowAny,)

    @extend_schema(operation_id="enrol_agent", request=EnrolmentIn, responses={201: EnrolmentOut})
    def post(self, request: Request) -> Response:
        """Enrol an agent: with an invitation, once, or as its node with a join token."""
        data = parsed(EnrolmentIn, request)
        enrolled = _enrol_agent(data)
        payload = {
            "token": enrolled.secret,
            "node": enrolled.node_name,
            "scopes": sorted(enrolled.scopes),
        }
        answer = EnrolmentOut(payload)
        return Response(answer.data, status=201, headers={"Cache-Control": "no-store"})


def _enrol_agent(data: Mapping[str, Any]) -> actions.EnrolledAgent:
    at, days = timezone.now(), settings.AGENT_TOKEN_DAYS
    good_for = timedelta(days=days) if days else None
    if not data["token"].startswith(actions.JOIN_PREFIX):
        return actions.enrol(
            secret=data["token"],
            source=data["source"],
            version=data["version"],
            at=at,
            good_for=good_for,
        )
    if "node" not in data:
        raise serializers.ValidationError({"node": ["is needed with a join token"]})
    node = actions.JoiningNode(
        data["node"], data.get("machine", ""), data["source"], data["version"]
    )
    return actions.join_node(secret=data["token"], node=node, at=at, good_for=good_for)
