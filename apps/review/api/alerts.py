"""GET /api/v1/alerts: what somebody should look at; acknowledged, muted and resolved by people and tokens."""

from collections.abc import Callable
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from apps.review import actions
from apps.review.api.answer_schema import answer_schema
from apps.review.queries.alerts import (
    KINDS,
    OPEN,
    SEVERITIES,
    STATES,
    AlertEntryFact,
    AlertFact,
    AlertsWanted,
    alert,
    alert_page,
    entries_of,
    may_answer,
)
from apps.web.rest.idempotency import once
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as
from apps.web.rest.schema import PAGES
from apps.web.rest.shapes import Answer, TextOrNullOut
from apps.web.rest.strict import (
    Moment,
    OptionalText,
    Parameters,
    StrictSerializer,
    parsed,
    refuse_others,
    split_words,
)
from apps.web.rest.views import RestView


class AnswersAlerts(BasePermission):
    """Leads, finance and platform of the alerts that they see, and the organisation's `manage` tokens."""

    message = "alerts are answered by leads, finance and platform, and with the organisation's 'manage' tokens"

    def has_permission(self, request: Request, view: object) -> bool:
        """Whether this caller may answer what they see."""
        is_known = request.auth is not None or bool(request.user and request.user.is_authenticated)
        return is_known and isinstance(view, RestView) and may_answer(view.viewer())


class AlertsQuery(Parameters):
    """In which state, of what kind, how severe."""

    state = OptionalText(help_text=", ".join(STATES))
    kind = OptionalText(help_text=", ".join(KINDS))
    severity = OptionalText(help_text=", ".join(SEVERITIES))


class AlertFactOut(serializers.Serializer[Any]):
    """A name and what it is, as the alert said it."""

    name = serializers.CharField()
    value = serializers.CharField()

    def to_representation(self, instance: Any) -> dict[str, str]:
        """Return the parts of such a pair by what each is."""
        name, value = instance
        return {"name": name, "value": value}


class AlertEntryOut(Answer[AlertEntryFact]):
    """A step of it; `who` null where Runrate itself did it."""

    without = ("id", "alert_id")
    facts = AlertFactOut(many=True)
    who = TextOrNullOut()


class AlertOut(Answer[AlertFact]):
    """A matter, reported once; `raised_at` is when it last went further. `team` null: the organisation's.

    `state_by` is who put it into its state, null where Runrate itself did.
    """

    without = ("team_id",)
    facts = AlertFactOut(many=True)
    raised_at = serializers.DateTimeField(source="told_at")
    state_by = TextOrNullOut(source="state_name")


class AlertWithStepsOut(AlertOut):
    """An alert with its steps, in order."""

    steps = AlertEntryOut(many=True)


class AlertReasonIn(StrictSerializer):
    """Why, kept with the alert."""

    reason = OptionalText(max_length=actions.LONGEST_ALERT_REASON)


class MuteIn(AlertReasonIn):
    """Until when nothing more is said of it; null: until somebody changes that."""

    until = Moment(required=False, allow_null=True, default=None)


class Alerts(RestView):
    """Alerts of the caller's teams; who sees everything sees the organisation's too."""

    row = AlertOut

    @extend_schema(
        operation_id="list_alerts", parameters=[AlertsQuery, *PAGES], responses=list_of(AlertOut)
    )
    def get(self, request: Request) -> Response:
        """Those raised last come first; without `state` the open ones."""
        params = AlertsQuery.of(request)
        wanted = AlertsWanted(
            self.viewer().seen_teams,
            states=_parse_words(params, "state", STATES) or (OPEN,),
            kinds=_parse_words(params, "kind", KINDS),
            severities=_parse_words(params, "severity", SEVERITIES),
        )
        return paged(request, alert_page(wanted, parse_page_request(request)), serialize_alert)


class AlertView(RestView):
    """One alert, where the caller may see it."""

    changes = (AnswersAlerts,)

    def told(self, alert_id: int) -> dict[str, Any]:
        """It with its steps."""
        fact = alert(alert_id, self.viewer().seen_teams)
        steps = [serialize_as(AlertEntryOut, entry) for entry in entries_of([fact.id])]
        return serialize_alert(fact) | {"steps": steps}

    def answered(
        self,
        request: Request,
        alert_id: int,
        body: type[StrictSerializer],
        act: Callable[..., None],
    ) -> Response:
        """Do it with what the body says, and tell what the alert is then."""
        fields = parsed(body, request)
        alert(alert_id, self.viewer().seen_teams)
        act(alert_id=alert_id, by=self.viewer(), at=timezone.now(), **fields)
        return Response(self.told(alert_id))


class OneAlert(AlertView):
    """One alert."""

    @extend_schema(operation_id="get_alert", responses=AlertWithStepsOut)
    def get(self, request: Request, alert_id: int) -> Response:
        """An alert with its steps."""
        Parameters.of(request)
        return Response(self.told(alert_id))


class AcknowledgedAlert(AlertView):
    """An alert that somebody sees to."""

    @answer_schema("acknowledge_alert", AlertReasonIn, AlertWithStepsOut)
    @once()
    def post(self, request: Request, alert_id: int) -> Response:
        """Somebody sees to it; it is reported again only when it goes further."""
        return self.answered(request, alert_id, AlertReasonIn, actions.acknowledge_alert)


class MutedAlert(AlertView):
    """An alert of which nothing more is said."""

    @answer_schema("mute_alert", MuteIn, AlertWithStepsOut)
    @once()
    def post(self, request: Request, alert_id: int) -> Response:
        """Nothing more is sent of it, until then."""
        return self.answered(request, alert_id, MuteIn, actions.mute_alert)


class ResolvedAlert(AlertView):
    """An alert whose matter is settled."""

    @answer_schema("resolve_alert", AlertReasonIn, AlertWithStepsOut)
    @once()
    def post(self, request: Request, alert_id: int) -> Response:
        """The matter is settled; it is open again only when it goes further."""
        return self.answered(request, alert_id, AlertReasonIn, actions.resolve_alert)


def serialize_alert(fact: AlertFact) -> dict[str, Any]:
    """An alert as REST answers it."""
    return serialize_as(AlertOut, fact)


def _parse_words(params: dict[str, Any], name: str, choices: tuple[str, ...]) -> tuple[str, ...]:
    words = split_words(params[name])
    refuse_others(name, words, choices)
    return tuple(words)
