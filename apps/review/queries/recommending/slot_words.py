"""Hours of the week in words: days that are alike together."""

from collections.abc import Collection

from apps.economics.hours import DAY_HOURS

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def describe_slots(slots: Collection[int]) -> str:
    """Such as `Monday to Friday 00:00 to 07:00 and 20:00 to 24:00; Saturday to Sunday all day`. Slots count from Monday's first hour on."""
    of_day = [
        tuple(hour for hour in range(DAY_HOURS) if day * DAY_HOURS + hour in slots)
        for day in range(len(DAYS))
    ]
    phrases, day = [], 0
    while day < len(DAYS):
        last = day
        while last + 1 < len(DAYS) and of_day[last + 1] == of_day[day]:
            last += 1
        if of_day[day]:
            name = DAYS[day] if last == day else f"{DAYS[day]} to {DAYS[last]}"
            phrases.append(f"{name} {_describe_hours(of_day[day])}")
        day = last + 1
    return "; ".join(phrases)


def _describe_hours(hours: tuple[int, ...]) -> str:
    if len(hours) == DAY_HOURS:
        return "all day"
    starts = [hour for hour in hours if hour - 1 not in hours]
    ends = [hour + 1 for hour in hours if hour + 1 not in hours]
    return " and ".join(
        f"{start:02d}:00 to {end:02d}:00" for start, end in zip(starts, ends, strict=True)
    )
