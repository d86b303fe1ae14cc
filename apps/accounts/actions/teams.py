"""The tree of teams."""

from django.db import transaction

from apps.accounts.actions.constraints import refusing
from apps.accounts.actions.organisation import NameMissing
from apps.accounts.models import Team
from apps.economics.refusal import Refusal
from apps.logs.changes import logged_change


class TeamNameTaken(Refusal):
    """Two teams of one name could not be told apart in a report."""


class TeamTreeLoops(Refusal):
    """A team cannot stand below itself."""


@logged_change()
def add_team(
    *,
    name: str,
    parent_id: int | None = None,
    cost_centre: str = "",
    owner_id: int | None = None,
) -> int:
    """Add a team below `parent_id` (None: at the top); answers its id. Refuses TeamNameTaken."""
    if not name.strip():
        raise NameMissing("name", "a team needs a name")
    taken = TeamNameTaken("name", f"there is a team named {name.strip()!r} already")
    with refusing({"accounts_team_name_key": taken}):
        team = Team.objects.create(
            name=name.strip(), parent_id=parent_id, cost_centre=cost_centre, owner_id=owner_id
        )
    return team.id


@logged_change()
@transaction.atomic
def move_team(*, team_id: int, parent_id: int | None) -> None:
    """Hang a team, with all below it, under another. Refuses TeamTreeLoops."""
    # Two moves that are each fine can loop together, so the whole tree is held.
    tree = {team.id: team for team in Team.objects.select_for_update().order_by("id")}
    if team_id not in tree or (parent_id is not None and parent_id not in tree):
        raise Team.DoesNotExist("no such team")
    above = parent_id
    while above is not None:
        if above == team_id:
            raise TeamTreeLoops("parent", f"{tree[team_id].name} cannot stand below itself")
        above = tree[above].parent_id
    Team.objects.filter(id=team_id).update(parent_id=parent_id)


@logged_change()
def book_team(*, team_id: int, cost_centre: str) -> None:
    """Finance books this team to another cost centre. Refuses Team.DoesNotExist."""
    if not Team.objects.filter(pk=team_id).update(cost_centre=cost_centre):
        raise Team.DoesNotExist("no such team")
