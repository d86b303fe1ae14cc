"""What comes: forecasts of the weeks that are there by now, and what APIs would cost instead."""

from datetime import timedelta
from io import StringIO

from django.core.management import call_command

from apps.planning.actions import ScenarioEntry, keep_scenario, run_scenario
from controlplane.demo.company import Company

COMPARED_WEEKS = 4
WEEKS_FORECAST = 2
"""So many weeks have forecasts that are held against what came."""
LEAST_HISTORY = timedelta(days=14)
"""Of the time before that nobody would have forecast."""
AROUND = "{ below = 0.2, above = 0.2 }"
COMPARISON = """# The prices are of no real vendor.
name = "{name}"
quality = "both answer 19 of 20 questions of our own set"

[demand]
million_tokens = {around}
monthly_growth = 0.04

[self_host]
fixed = {{ "on call" = {on_call} }}

[[self_host.pools]]
gpu_hour = {around}
input_tokens_per_second = {around}
output_tokens_per_second = {around}

[api]
name = "{api}"
source = "made up for the demo"
cached_share = 0.2

[[api.prices]]
starts_on = {since:%Y-%m-%d}
input = {before[0]}
output = {before[1]}

[[api.prices]]
starts_on = {cut:%Y-%m-%d}
input = {after[0]}
output = {after[1]}

[[levers]]
name = "FP8 weights"
throughput_factor = 1.5
"""
COMPARED = (
    ("Assistant", "chat-serving", "a hosted 8B model", 400, (0.9, 2.4), (0.25, 0.8)),
    ("Search", "search-serving", "a hosted embedding model", 150, (0.16, 0.16), (0.12, 0.12)),
)
"""Team and service, the API, people a month, and its prices of a million in and out, before and after it cuts them."""


def forecast_everything(company: Company) -> None:
    """Forecasts of every series by the hour and by the day, as they were made one and two weeks ago and now."""
    weeks = [week.ends_at for week in company.earlier_weeks()][:WEEKS_FORECAST]
    long_known = [at for at in reversed(weeks) if at - company.since >= LEAST_HISTORY]
    for at in (*long_known, company.week.at):
        call_command("forecast", at=at, stdout=StringIO(), stderr=StringIO())


def compare_with_apis(company: Company) -> None:
    """What two services would cost from an API, week by week; one API cuts its prices."""
    last = company.week.starts_at
    for team, service, api, on_call, before, after in COMPARED:
        text = COMPARISON.format(
            name=f"{service} or {api}", api=api, on_call=on_call, around=AROUND,
            since=company.since, cut=last + timedelta(days=1), before=before, after=after,
        )  # fmt: skip
        entry = ScenarioEntry(text, service_id=company.workload(team, service))
        weeks = [week.ends_at for week in company.earlier_weeks()][:COMPARED_WEEKS]
        moments = [*reversed(weeks), company.week.at]
        kept = keep_scenario(entry=entry, owner_id=None, at=moments[0])
        for at in moments:
            run_scenario(scenario_id=kept, at=at)
