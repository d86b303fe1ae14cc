"""Where machines are, as clouds name it."""


def lies_in(place: str, region: str) -> bool:
    """Whether a place is the region, or a zone of it (us-east-1a, us-central1-a)."""
    return place == region or (
        place.startswith(region) and place[len(region) :].strip("-").isalpha()
    )
