"""Who can do what whoever asks may not do."""

from apps.accounts.queries import Role, names_of_role
from apps.console.kit.frame import Link, Step
from apps.show.amounts import counted

MOST_NAMES = 3


def role_sentence(does: str, role: Role = Role.PLATFORM) -> str:
    """A sentence that names people of a role, who do it; there may be none."""
    names = names_of_role(role)
    if not names:
        return f"Somebody of the role {role} {does}."
    more = f" or {counted(len(names) - MOST_NAMES, 'other')}" if len(names) > MOST_NAMES else ""
    return f"Somebody of the role {role} {does}: {', '.join(names[:MOST_NAMES])}{more}."


def step_for(
    sentence: str, link: Link, does: str, *, may: bool, role: Role = Role.PLATFORM
) -> Step:
    """The step with its link; without `may` it says who of the role `does` it instead."""
    return Step(sentence, link=link) if may else Step(f"{sentence} {role_sentence(does, role)}")


def team_step() -> Step:
    """Who puts somebody in a team that is in none."""
    return Step(role_sentence("puts you in a team"))
