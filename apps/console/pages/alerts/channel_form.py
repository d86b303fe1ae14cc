"""The form by which a channel is added and changed."""

from typing import Any

from apps.console.kit.entered import FormOf
from apps.console.kit.entries import PickField
from apps.review.queries.channels import EnteredAlertChannel

HOURS = {"": "none", **{str(hour): f"{hour:02d}:00" for hour in range(24)}}


class HourField(PickField):
    """A full hour of the organisation's clock, or none."""

    def __init__(self, label: str, hint: str = "") -> None:
        super().__init__(label, HOURS, hint)

    def clean(self, value: Any) -> int | None:
        """The hour."""
        hour = super().clean(value)
        return int(hour) if hour else None


class AlertChannelForm(FormOf[EnteredAlertChannel]):
    """A channel; its address is never shown again where it is a webhook."""

    team = PickField("Alerts of")
    quiet_from = HourField("Quiet from", "Urgent alerts are sent all the same.")
    quiet_to = HourField("Quiet to")
    field_order = ("name", "kind", "team", "address", "pace", "quiet_from", "quiet_to")
