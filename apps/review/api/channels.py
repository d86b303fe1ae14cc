"""Where alerts are sent, over REST: channels, and what was sent to them."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import queries as accounts
from apps.files.limits import BodyKind
from apps.review import actions
from apps.review.queries.channels import (
    ChannelFact,
    EnteredAlertChannel,
    MessageFact,
    channel,
    channels,
    message_page,
)
from apps.web.outgoing import LONGEST_ADDRESS
from apps.web.rest.idempotency import once
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as, slice_of
from apps.web.rest.schema import PAGES, REPEAT_KEY
from apps.web.rest.shapes import Answer, Body, CountOut, parse_as
from apps.web.rest.strict import OptionalText, Parameters
from apps.web.rest.views import CanManageBilling, Reads, RestView, SeesPrices


class CanManageChannels(CanManageBilling):
    """The permission to keep channels, for the same people and tokens as may keep bills."""

    message = "channels are kept by finance and platform, and by the organisation's 'manage' tokens"


class AlertChannelIn(Body[EnteredAlertChannel]):
    """A channel as a whole. `address`: mail addresses by comma, or the address of a webhook; never answered."""

    without = ("team_id",)
    team = OptionalText(help_text="whose alerts; empty: the organisation's")
    address = OptionalText(
        max_length=LONGEST_ADDRESS, help_text="of a change empty: the one it has"
    )

    def made(self, values: dict[str, Any]) -> EnteredAlertChannel:
        """Return the channel with the team that is named; refuses a ValidationError where there is none."""
        team, ids = values.pop("team"), {team.name: team.id for team in accounts.teams()}
        if team and team not in ids:
            raise ValidationError({"team": [f"there is no team named {team!r}"]})
        return EnteredAlertChannel(**values, team_id=ids.get(team))


class AlertChannelOut(Answer[ChannelFact]):
    """A channel; of a webhook only scheme and host are shown. `team` null: the organisation's."""

    without = ("team_id",)
    first = ("id", "name", "kind", "team", "shown_address")


class IssuedChannelOut(AlertChannelOut):
    """A channel of alerts with the key that a signed webhook is signed with, which is shown only now; null of other channels."""

    key = serializers.CharField(allow_null=True)


class AlertMessageOut(Answer[MessageFact]):
    """A message and what came of its last attempt (null: not tried yet); `due_at`: when it is tried next, where it waits."""

    steps = CountOut(source="entry_ids", help_text="of alerts, in this message")


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
        issued = actions.add_channel(channel=parse_as(AlertChannelIn, request), at=timezone.now())
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
        actions.replace_channel(channel_id=channel_id, channel=parse_as(AlertChannelIn, request))
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
    return serialize_as(AlertMessageOut, fact)
