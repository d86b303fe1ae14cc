"""What a change of a shared cost would move, in sentences."""

from collections.abc import Mapping

from apps.ledger.queries.shared_costs import MonthShare, ShareWhatIf
from apps.show.amounts import counted
from apps.show.money import signed_amount
from apps.show.words import joined

MOST_TEAMS = 12
IN_OPEN = "In open months teams are allocated"


def moved(found: ShareWhatIf, currency: str, teams: Mapping[int, str]) -> tuple[str, ...]:
    """By month, then by team; closed months only get corrections."""
    if not found.months:
        return ("No past hour changes; it counts from its start on.",)
    said = [_month(each, currency) for each in found.months]
    ordered = sorted(found.teams.items(), key=lambda pair: (-abs(pair[1]), pair[0]))
    shown = [
        f"{teams[team_id]} {signed_amount(micros, currency)}"
        for team_id, micros in ordered[:MOST_TEAMS]
    ]
    if len(ordered) > MOST_TEAMS:
        shown.append(f"{len(ordered) - MOST_TEAMS} more teams the rest")
    if shown:
        how = "By the sums of open months, teams are allocated about" if found.is_rough else IN_OPEN
        said.append(f"{how} {joined(shown)}.")
    elif found.open_micros:
        said.append(
            "It is allocated to no team yet; where no team has a part, Platform is charged."
        )
    return tuple(said)


def _month(share: MonthShare, currency: str) -> str:
    hours = f"{counted(share.hours, 'hour')} of {share.month:%B %Y}"
    if share.is_closed:
        return f"{hours}, which is closed, wait for corrections; nothing in it moves."
    if not share.micros:
        return f"{hours} are charged again; the sum stays."
    return f"{hours} are charged again: {signed_amount(share.micros, currency)}."
