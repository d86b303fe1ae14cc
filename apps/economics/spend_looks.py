"""How spend is looked at: by the day, by the week, for what creeps, and weekends apart."""

from enum import StrEnum


class SpendLook(StrEnum):
    """What found an excess: which span of days, held against which line."""

    DAY = "day"
    WEEK = "week"
    CREEP = "creep"
    WEEKEND = "weekend"
