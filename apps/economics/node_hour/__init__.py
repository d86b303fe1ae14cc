"""One node-hour into lines, exactly."""

from apps.economics.node_hour.facts import (
    MINUTE_MS,
    CapacityFact,
    ClaimFact,
    CoresFact,
    DeviceOfHour,
    KeyFact,
    LinePart,
    NodeHourFacts,
    NodeHourSplit,
    OutageOfHour,
    UsageFact,
)
from apps.economics.node_hour.splitting import PiecesDoNotCoverTheHour, split_node_hour
