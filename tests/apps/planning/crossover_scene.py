"""A service that was busy for a day, and scenarios of it or of nothing that was measured."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from apps.ledger.actions.partitions import ensure_month
from tests import make
from tests.apps.ledger import scene
from tests.apps.unit_economics import service_scene as services
from tests.apps.unit_economics.service_scene import DOLLAR, GPU_HOUR_MS, HOUR, MIDNIGHT

DAY_AFTER = datetime.combine(MIDNIGHT + timedelta(days=1), MIDNIGHT.timetz()) + 9 * HOUR
"""The morning after that day, a Tuesday."""
API = """
[api]
name = "an API"
prices = [{ starts_on = 2026-01-01, input = 1.0, output = 4.0 }]
"""
OFFER = f'name = "chat against an API"\n{API}'
"""Everything else is the service's."""
STATED = f"""# Made up
name = "all stated"
currency = "USD"
draws = 200

[demand]
million_tokens = {{ low = 20000, likely = 38000, high = 60000 }}
input_share = 0.8
monthly_growth = 0.05

[self_host]
fixed = {{ engineering = 9000 }}

[[self_host.pools]]
name = "engine"
gpus = 8
gpu_hour = {{ low = 2.0, likely = 2.5, high = 3.5 }}
input_tokens_per_second = 20000
output_tokens_per_second = 4000
headroom = 0.7
least_replicas = 2
{API}
[[levers]]
name = "FP8 weights"
throughput_factor = 1.5
"""


def serve_a_day(team_id: int, pool_id: int, name: str = "chat-api") -> int:
    """A service on two GPUs at 2.50 an hour, shared costs included; busy by day, idle by night."""
    return serve_days(team_id, pool_id, (2,), name)


def serve_days(team_id: int, pool_id: int, gpus: Sequence[int], name: str = "chat-api") -> int:
    """The same day again and again, each on so many GPUs."""
    ensure_month(month=scene.TEN.date().replace(day=1))
    chat = services.make_service(team_id, name)
    for number in range(24 * len(gpus)):
        hour, is_day, held = MIDNIGHT + number * HOUR, 8 <= number % 24 < 20, gpus[number // 24]
        for state, part in ((1, 3 if is_day else 1), (2, 1 if is_day else 3)):
            services.make_line(
                pool_id, team_id, chat, hour=hour, kind="service", state=state,
                ms=held * GPU_HOUR_MS * part // 4, micros=held * DOLLAR * part // 2,
            )  # fmt: skip
        services.make_line(pool_id, team_id, chat, hour=hour, ms=0, state=None)
        requests = 1000 if is_day else 50
        tokens = {"prompt_tokens": requests * 600, "output_tokens": requests * 200}
        services.count(
            chat, hour, requests=requests, cached_tokens=requests * 60, source_key=name, **tokens
        )
    for day in range(len(gpus)):
        services.roll_up(pool_id, day=MIDNIGHT + timedelta(days=day))
    return chat


def make_served_team(name: str = "Research") -> tuple[int, int]:
    """A team and its service, in an organisation that is there."""
    team_id = make.make_team(name)
    return team_id, serve_a_day(team_id, make.make_pool(f"pool of {name}"))
