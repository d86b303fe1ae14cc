"""Commands write values as JSON that is the same each time."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal

from apps.show.json_text import json_text


def test_a_set_is_its_members_in_order_and_exact_values_are_texts() -> None:
    value = {
        "cells": frozenset({"pool:4", "9:4", "9:31"}),
        "amount": Decimal("1.250000"),
        "day": date(2026, 11, 30),
        "at": datetime(2026, 11, 30, 12, tzinfo=UTC),
    }
    assert json.loads(json_text(value)) == {
        "cells": ["9:31", "9:4", "pool:4"],
        "amount": "1.250000",
        "day": "2026-11-30",
        "at": "2026-11-30 12:00:00+00:00",
    }
