"""Let a finance person and a lead of a team into the demo, and keep a crossover: `python -m bench.browser_people`."""

import os

import django
from django.utils import timezone

PEOPLE = {"finance": "bench-finance@example.org", "lead": "bench-lead@example.org"}
PASSWORD = "only the bench signs in so"  # noqa: S105 - of a database that the bench drops

OFFER = """name = "bench"
[demand]
million_tokens = { below = 0.2, above = 0.2 }
[[self_host.pools]]
gpu_hour = { below = 0.2, above = 0.2 }
[api]
name = "an API"
prices = [{ starts_on = 2020-01-01, input = 0.25, output = 0.8 }]
"""


def main() -> None:
    """Both, the lead within the first team that people are in, and a scenario of the chat service."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    django.setup()
    from apps.accounts import actions as accounts
    from apps.accounts.models import Team
    from apps.planning.actions import ScenarioEntry, keep_scenario, run_scenario
    from apps.planning.queries.service_hours import service_named

    ids = {
        role: accounts.add_person(email=email, name=role.title(), role=role, password=PASSWORD)
        for role, email in PEOPLE.items()
    }
    team_id = Team.objects.filter(kind="team").order_by("id").values_list("id", flat=True)[0]
    accounts.place_in_teams(person_id=ids["lead"], team_ids={team_id})
    entry, at = ScenarioEntry(OFFER, service_id=service_named("chat-serving").id), timezone.now()
    run_scenario(scenario_id=keep_scenario(entry=entry, owner_id=None, at=at), at=at)


if __name__ == "__main__":
    main()
