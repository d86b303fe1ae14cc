"""A day of calls to model APIs in a database of its own: `python -m bench.usage_day CALLS`."""

import json
import multiprocessing
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
django.setup()

# Django has to be set up before anything that has models.
from django.conf import settings  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402
from django.test import Client  # noqa: E402

from apps.accounts import actions as accounts  # noqa: E402
from apps.ledger.actions.calls import price_waiting  # noqa: E402
from apps.ledger.solvers.api_pricing import books  # noqa: E402
from controlplane.settling import settle_window  # noqa: E402

DAY = datetime(2026, 11, 10, tzinfo=UTC)
AT = DAY + timedelta(days=2)
AT_ONCE = 2_000
PAUSE_SECONDS = 2.0
SENDERS = 2
WORKER = "worker"
TEAMS = ("Research", "Vision", "Search", "Support")
MODELS = (
    ("openai", "gpt-4.1"),
    ("openai", "gpt-4.1-mini"),
    ("openai", "gpt-5"),
    ("anthropic", "claude-sonnet-4-5"),
    ("anthropic", "claude-haiku-4-5"),
    ("google", "gemini-2.5-pro"),
    ("google", "gemini-2.5-flash"),
)
FEATURES = ("search", "chat", "summaries", "tagging", "")
SUMS = """
SELECT (SELECT count(*) FROM workloads_usageevent), (SELECT count(*) FROM ledger_apicost),
       (SELECT count(*) FROM ledger_apicost WHERE micros IS NULL),
       (SELECT abs(sum(effective_micros) - (SELECT sum(effective_micros) FROM ledger_charge))
               + abs(sum(effective_micros) - (SELECT sum(micros) FROM ledger_apihour))
        FROM ledger_line)
"""


def main(calls: int) -> dict[str, object]:
    """Send while a worker prices, send again and charge; what each took, pricing from the first on."""
    call_command("migrate", verbosity=0)
    settings.API_REQUESTS_PER_MINUTE = settings.API_REQUESTS_PER_MINUTE | {"events": 10**9}
    accounts.bootstrap(organisation=accounts.Bootstrap("Bench", "USD", "UTC", 1), at=DAY)
    for name in TEAMS:
        accounts.add_team(name=name)
    token = accounts.make_token(name="gateway", scopes=("usage",), expires_at=None, at=DAY)
    bodies = list(_bodies(calls))
    worker = subprocess.Popen([sys.executable, "-m", "bench.usage_day", WORKER, str(calls)])
    began = time.monotonic()
    took: dict[str, object] = {"taken_seconds": _timed(lambda: _send(bodies, token.secret))}
    if worker.wait():
        raise SystemExit(f"the worker answered {worker.returncode}")
    took["priced_seconds"] = round(time.monotonic() - began, 2)
    kept, priced, unpriced, _ = _sums()
    took["again_seconds"] = _timed(lambda: _send(bodies, token.secret))
    price_waiting(before=AT, book=books)
    took["charged_seconds"] = _timed(lambda: settle_window(starts_at=DAY, ends_at=AT, at=AT))
    kept_again, _, _, residual = _sums()
    return took | {
        "kept": kept,
        "priced": priced,
        "unpriced": unpriced,
        "kept_again": kept_again - kept,
        "residual_micros": int(residual),
    }


def price_all(calls: int) -> None:
    """What the worker does meanwhile: price what came, until that is all."""
    priced = 0
    while priced < calls:
        priced += price_waiting(before=AT, book=books)
        time.sleep(PAUSE_SECONDS)


def _bodies(calls: int) -> Iterator[bytes]:
    """As a gateway would batch them, with prompts to be dropped."""
    chance = random.Random(6)  # noqa: S311  # the same day at every run
    for first in range(0, calls, AT_ONCE):
        rows = [_call(chance, k, calls) for k in range(first, min(calls, first + AT_ONCE))]
        yield json.dumps({"events": rows}).encode()


def _call(chance: random.Random, number: int, calls: int) -> dict[str, object]:
    vendor, model = chance.choice(MODELS)
    sent, told = chance.randint(50, 20_000), chance.randint(1, 900)
    usage: dict[str, object] = {
        "prompt_tokens": sent,
        "prompt_tokens_details": {"cached_tokens": chance.randint(0, sent)},
        "completion_tokens": told,
    }
    at = DAY + timedelta(days=1) * number / calls
    return {
        "vendor": vendor,
        "team": chance.choice(TEAMS),
        "feature": chance.choice(FEATURES),
        "at": at.isoformat(),
        "response": {
            "id": f"call-{number}",
            "model": model,
            "choices": [{"message": {"content": "as was asked " * 8}}],
            "usage": usage,
        },
    }


def _send(bodies: list[bytes], secret: str) -> None:
    """As web processes take them: as many at once as the machine has cores."""
    connection.close()
    context = multiprocessing.get_context("fork")
    senders = [
        context.Process(target=_send_some, args=(bodies[k::SENDERS], secret))
        for k in range(SENDERS)
    ]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    if any(sender.exitcode for sender in senders):
        raise SystemExit("a delivery was refused")


def _send_some(bodies: list[bytes], secret: str) -> None:
    client = Client(headers={"Host": "localhost"})
    for body in bodies:
        answer = client.post(
            "/api/v1/usage-events",
            body,
            content_type="application/json",
            headers={"Authorization": f"Bearer {secret}"},
        )
        if answer.status_code != 200 or answer.json()["errors"]:
            raise SystemExit(answer.content.decode()[:1_000])


def _timed(do: Callable[[], object]) -> float:
    began = time.monotonic()
    do()
    return round(time.monotonic() - began, 2)


def _sums() -> tuple[int, int, int, int]:
    with connection.cursor() as cursor:
        cursor.execute(SUMS)
        kept, priced, unpriced, residual = cursor.fetchone()
    return kept, priced, unpriced, residual or 0


if __name__ == "__main__":
    if sys.argv[1] == WORKER:
        price_all(int(sys.argv[2]))
    else:
        print(json.dumps(main(int(sys.argv[1]))))
