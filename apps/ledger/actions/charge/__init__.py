"""The charge pass: what every node-hour, shared cost and billed row of an hour costs."""

from apps.ledger.actions.charge.empty_hours import lift_empty_hours
from apps.ledger.actions.charge.hour import charge_hour
from apps.ledger.actions.charge.values import SETTLES_AFTER
