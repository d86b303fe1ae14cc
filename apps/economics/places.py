"""Where machines are, as clouds name it."""

import re

ZONE = re.compile(r"\d-?[a-z]$")


def is_zone(place: str) -> bool:
    """Whether a place is a zone (us-east-1a, us-central1-a) and no region."""
    return ZONE.search(place) is not None


def lies_in(place: str, region: str) -> bool:
    """Whether a place is the region, or a zone of it (us-east-1a, us-central1-a)."""
    return place == region or (
        place.startswith(region) and place[len(region) :].strip("-").isalpha()
    )


def may_lie_in(place: str, wanted: str) -> bool:
    """As `lies_in`; a place known by its region alone may be any zone of it."""
    return lies_in(place, wanted) or (is_zone(wanted) and lies_in(wanted, place))
