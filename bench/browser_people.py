"""Let a finance person and a lead of a team into the demo: `python -m bench.browser_people`."""

import os

import django

PEOPLE = {"finance": "bench-finance@example.org", "lead": "bench-lead@example.org"}
PASSWORD = "only the bench signs in so"  # noqa: S105 - of a database that the bench drops


def main() -> None:
    """Both, the lead within the first team that people are in."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    django.setup()
    from apps.accounts import actions as accounts
    from apps.accounts.models import Team

    ids = {
        role: accounts.add_person(email=email, name=role.title(), role=role, password=PASSWORD)
        for role, email in PEOPLE.items()
    }
    team_id = Team.objects.filter(kind="team").order_by("id").values_list("id", flat=True)[0]
    accounts.place_in_teams(person_id=ids["lead"], team_ids={team_id})


if __name__ == "__main__":
    main()
