"""Enrolment over the wire: a one-time token in, an agent's own token out."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.fleet import actions


class EnrolmentIn(serializers.Serializer[Any]):
    """The invitation, and what came with it."""

    token = serializers.CharField(max_length=100, write_only=True)
    # DRF's metaclass takes declared fields off the class, so nothing is overridden.
    source = serializers.ChoiceField(  # type: ignore[assignment]
        choices=["nvml", "dcgm", "simulated"]
    )
    version = serializers.CharField(max_length=40)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse fields that nobody reads: a misspelt one would be lost without a word."""
        unknown = set(self.initial_data) - set(self.fields)
        if unknown:
            raise serializers.ValidationError(dict.fromkeys(sorted(unknown), "unknown field"))
        return attrs


class EnrolmentOut(serializers.Serializer[Any]):
    """The agent's own token, shown this once, and the node it writes."""

    token = serializers.CharField()
    node = serializers.CharField()


class Enrolments(APIView):
    """Where an agent comes first; the invitation is its whole credential."""

    authentication_classes = ()
    permission_classes = (AllowAny,)

    @extend_schema(request=EnrolmentIn, responses={201: EnrolmentOut})
    def post(self, request: Request) -> Response:
        """Enrol an agent; a second use of the invitation is refused."""
        asked = EnrolmentIn(data=request.data)
        asked.is_valid(raise_exception=True)
        enrolled = actions.enrol(
            secret=asked.validated_data["token"],
            source=asked.validated_data["source"],
            version=asked.validated_data["version"],
            at=timezone.now(),
        )
        answer = EnrolmentOut({"token": enrolled.secret, "node": enrolled.node_name})
        return Response(answer.data, status=201, headers={"Cache-Control": "no-store"})
