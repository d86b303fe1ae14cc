"""The form by which a channel is added and changed."""

from typing import Any

from apps.console.kit.change import ChangeForm
from apps.console.kit.entries import PickField, TextField
from apps.review.queries.channels import CHANNEL_WORDS, MAIL, PACE_WORDS
from apps.web.outgoing import LONGEST_ADDRESS

NO_HOUR = "none"


def _hour_of(text: str) -> int | None:
    return None if text == NO_HOUR else int(text)


HOURS = {NO_HOUR: "none", **{str(hour): f"{hour:02d}:00" for hour in range(24)}}


class HourField(PickField):
    """A full hour of the organisation's clock, or none."""

    def __init__(self, label: str, hint: str = "") -> None:
        super().__init__(label, HOURS, hint, initial=NO_HOUR)

    def clean(self, value: Any) -> int | None:
        """The hour."""
        return _hour_of(str(super().clean(value)))


class ReviewsField(PickField):
    """Whether weekly reviews are sent there too."""

    def __init__(self) -> None:
        super().__init__(
            "Weekly review",
            {"": "not sent there", "sent": "sent there too"},
            "The whole of it, or what of it is of the team and of those below.",
        )

    def clean(self, value: Any) -> bool:
        """Whether they are."""
        return bool(super().clean(value))


class AlertChannelForm(ChangeForm):
    """A channel; its address is never shown again where it is a webhook."""

    name = TextField("Name")
    kind = PickField("By", CHANNEL_WORDS, initial=MAIL)
    team = PickField("Alerts of")
    address = TextField(
        "Address",
        "Mail addresses by comma, or the https:// address of a webhook, of which only the host is shown later.",
        longest=LONGEST_ADDRESS,
    )
    pace = PickField("When", PACE_WORDS, initial="at_once")
    quiet_from = HourField("Quiet from", "Urgent alerts are sent all the same.")
    quiet_to = HourField("Quiet to")
    gets_reviews = ReviewsField()
