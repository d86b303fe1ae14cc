"""Batches over HTTP, and what is refused there."""

from apps.accounts.authentication import AuthenticationRefused
from apps.telemetry.actions.partitions import PartitionsBusy
from apps.telemetry.actions.wire import BatchTooLarge, BatchUnreadable, NodeOfAnotherToken
from apps.telemetry.api.batches import receive_batch, receive_batches, received
from apps.telemetry.api.bodies import EncodingUnknown, LengthMissing
from apps.telemetry.api.remembering import remember
from apps.telemetry.api.senders import (
    TokenLacksScope,
    TokenWithoutAgent,
    forget,
    is_delivery_routine,
    is_sender_cached,
)
