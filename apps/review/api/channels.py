"""Where alerts are sent, over REST: channels, and what was sent to them."""

from collections.abc import Mapping
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import queries as accounts
from apps.accounts.queries.facts import fields_of
from apps.files.limits import BodyKind
from apps.review import actions
from apps.review.queries.channels import (
    CHANNEL_KINDS,
    CHANNEL_PACES,
    MESSAGE_STATES,
    ChannelFact,
    MessageFact,
    channel,
    channels,
    message_page,
)
from apps.web.outgoing import LONGEST_ADDRESS
from apps.web.rest.idempotency import once
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as, slice_of
from apps.web.rest.schema import PAGES, REPEAT_KEY
from apps.web.rest.strict import (
    OptionalText,
    Parameters,
    StrictInteger,
    StrictSerializer,
    Text,
    parsed,
)
from apps.web.rest.views import CanManageBilling, Reads, RestView, SeesPrices


class CanManageChannels(CanManageBilling):
    """The permission to keep channels, for the same people and tokens as may keep bills."""

    message = "channels are kept by finance and platform, and by the organisation's 'manage' tokens"


def _hour_field(help_text: str) -> StrictInteger:
    return StrictInteger(
        required=False,
        allow_null=True,
        default=None,
        min_value=0,
        max_value=23,
        help_text=help_text,
    )


class AlertChannelIn(StrictSerializer):
    """A channel as a whole. `address`: mail addresses by comma, or the address of a webhook; never answered."""

    name = Text()
    kind = serializers.ChoiceField(choices=CHANNEL_KINDS)
    team = OptionalText(help_text="whose alerts; empty: the organisation's")
    address = OptionalText(
        max_length=LONGEST_ADDRESS, help_text="of a change empty: the one it has"
    )
    pace = serializers.ChoiceField(choices=CHANNEL_PACES, required=False, default="at_once")
    quiet_from = _hour_field(
        "from this hour of the organisation's clock only urgent alerts are sent"
    )
    quiet_to = _hour_field("until this hour")
    gets_reviews = serializers.BooleanField(
        required=False,
        default=False,
        help_text="weekly reviews are sent there too: the whole, or what is of its team",
    )


class AlertChannelOut(serializers.Serializer[Any]):
    """A channel; of a webhook only scheme and host are shown. `team` null: the organisation's."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=CHANNEL_KINDS)
    team = serializers.CharField(allow_null=True)
    shown_address = serializers.CharField()
    pace = serializers.ChoiceField(choices=CHANNEL_PACES)
    quiet_from = serializers.IntegerField(allow_null=True)
    quiet_to = serializers.IntegerField(allow_null=True)
    gets_reviews = serializers.BooleanField()
    failures = serializers.IntegerField(help_text="attempts in a row that failed")
    last_sent_at = serializers.DateTimeField(allow_null=True)
    paused_at = serializers.DateTimeField(allow_null=True)
    paused_reason = serializers.CharField()
    created_at = serializers.DateTimeField()


class IssuedChannelOut(AlertChannelOut):
    """A channel of alerts with the key that a signed webhook is signed with, which is shown only now; null of other channels."""

    key = serializers.CharField(allow_null=True)


class AlertMessageOut(serializers.Serializer[Any]):
    """A message and what came of its last attempt (null: not tried yet); `due_at`: when it is tried next, where it waits."""

    id = serializers.IntegerField()
    channel_id = serializers.IntegerField()
    channel = serializers.CharField()
    steps = serializers.IntegerField(help_text="of alerts, in this message")
    is_test = serializers.BooleanField()
    review = serializers.CharField(
        allow_null=True, help_text="the week of the weekly review that it is of"
    )
    state = serializers.ChoiceField(choices=MESSAGE_STATES)
    made_at = serializers.DateTimeField()
    due_at = serializers.DateTimeField()
    attempts = serializers.IntegerField()
    ended_at = serializers.DateTimeField(allow_null=True)
    outcome = serializers.CharField(allow_null=True)


class ChannelView(RestView):
    """Channels are for who sees everything."""

    reads = (Reads, SeesPrices)
    changes = (CanManageChannels,)


class AlertChannels(ChannelView):
    """Every channel."""

    row = AlertChannelOut

    @extend_schema(
        operation_id="list_alert_channels", parameters=[*PAGES], responses=list_of(AlertChannelOut)
    )
    def get(self, request: Request) -> Response:
        """Channels by name."""
        Parameters.of(request)
        page = slice_of(
            channels(), parse_page_request(request), lambda alert_channel: (alert_channel.name,)
        )
        return paged(request, page, serialize_channel)

    @extend_schema(
        operation_id="add_alert_channel",
        parameters=[REPEAT_KEY],
        request=AlertChannelIn,
        responses={201: IssuedChannelOut},
    )
    @once(forgetting="key")
    def post(self, request: Request) -> Response:
        """Send alerts of a team, or of the organisation, there from now on."""
        issued = actions.add_channel(channel=_parse_channel(request), at=timezone.now())
        return Response(serialize_channel(channel(issued.id)) | {"key": issued.key}, status=201)


class OneAlertChannel(ChannelView):
    """One channel."""

    @extend_schema(operation_id="get_alert_channel", responses=AlertChannelOut)
    def get(self, request: Request, channel_id: int) -> Response:
        """A channel by its id."""
        Parameters.of(request)
        return Response(serialize_channel(channel(channel_id)))

    @extend_schema(
        operation_id="replace_alert_channel", request=AlertChannelIn, responses=AlertChannelOut
    )
    def put(self, request: Request, channel_id: int) -> Response:
        """Set it anew as a whole, but its kind; without an address it keeps the one it has."""
        actions.replace_channel(channel_id=channel_id, channel=_parse_channel(request))
        return Response(serialize_channel(channel(channel_id)))

    @extend_schema(operation_id="remove_alert_channel", responses={200: AlertChannelOut})
    def delete(self, request: Request, channel_id: int) -> Response:
        """Send nothing there any more; answers what it was."""
        Parameters.of(request)
        removed = serialize_channel(channel(channel_id))
        actions.remove_channel(channel_id=channel_id, at=timezone.now())
        return Response(removed)


class ResumedAlertChannel(ChannelView):
    """A channel that was paused."""

    body = BodyKind.EMPTY

    @extend_schema(
        operation_id="resume_alert_channel",
        parameters=[REPEAT_KEY],
        request=None,
        responses={200: AlertChannelOut},
    )
    @once()
    def post(self, request: Request, channel_id: int) -> Response:
        """Try again what waits."""
        Parameters.of(request)
        actions.resume_channel(channel_id=channel_id, at=timezone.now())
        return Response(serialize_channel(channel(channel_id)))


class TestedAlertChannel(ChannelView):
    """A test of a channel."""

    body = BodyKind.EMPTY

    @extend_schema(
        operation_id="test_alert_channel",
        parameters=[REPEAT_KEY],
        request=None,
        responses={202: AlertChannelOut},
    )
    @once()
    def post(self, request: Request, channel_id: int) -> Response:
        """The next sweep sends a test, within seconds; what came of it is in the messages."""
        Parameters.of(request)
        actions.try_channel(channel_id=channel_id, at=timezone.now())
        return Response(serialize_channel(channel(channel_id)), status=202)


class AlertMessages(ChannelView):
    """The list of messages to channels, those sent and those that wait."""

    row = AlertMessageOut

    @extend_schema(
        operation_id="list_alert_messages", parameters=[*PAGES], responses=list_of(AlertMessageOut)
    )
    def get(self, request: Request) -> Response:
        """Messages to all channels, the newest first."""
        Parameters.of(request)
        return paged(request, message_page(parse_page_request(request)), serialize_message)


def serialize_channel(fact: ChannelFact) -> dict[str, Any]:
    """A channel as REST answers it."""
    return serialize_as(AlertChannelOut, fact)


def serialize_message(fact: MessageFact) -> dict[str, Any]:
    """A message as REST answers it."""
    return serialize_as(AlertMessageOut, fields_of(fact) | {"steps": len(fact.entry_ids)})


def _parse_channel(request: Request) -> actions.NewAlertChannel:
    """The channel that a body describes; refuses a ValidationError that names the field."""
    body: Mapping[str, Any] = parsed(AlertChannelIn, request)
    ids = {team.name: team.id for team in accounts.teams()}
    if body["team"] and body["team"] not in ids:
        raise ValidationError({"team": [f"there is no team named {body['team']!r}"]})
    fields = {name: value for name, value in body.items() if name != "team"}
    return actions.NewAlertChannel(**fields, team_id=ids.get(body["team"]))
