"""Make a world of known savings in the database of RUNRATE_DATABASE_URL, look for them, and compare: `-m bench.savings_ask SEED`."""

import json
import os
import sys
import time
from collections import Counter
from datetime import datetime
from typing import Any

import django

WITHIN = 0.15


def main(seed: int) -> dict[str, Any]:
    """Fill, look once with every kind, and hold what is recommended against what was planted."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    django.setup()
    from django.db import connection
    from django.utils import timezone

    from apps.accounts.queries import has_organisation
    from controlplane.readiness import make_ready
    from tests import make
    from tests.apps.review.pool_scene import AT

    make_ready()
    timezone.now = lambda: AT
    if not has_organisation():
        make.make_organisation()
    from bench.savings_world import make_world

    began = time.perf_counter()
    world = make_world(seed)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    made = time.perf_counter()
    figures = _looked(world, AT)
    return {
        "seed": seed,
        "alike": len(world.alike),
        "made_seconds": round(made - began, 1),
        "look_seconds": round(time.perf_counter() - made, 1),
        **figures,
    }


def _looked(world: Any, at: datetime) -> dict[str, Any]:
    from apps.placement.queries.moves.work import move_week
    from apps.review import actions
    from apps.review.models import Recommendation
    from apps.review.queries.recommendations import latest_recommendation_detection_run
    from apps.review.queries.recommending.waste_explained import waste_from

    actions.detect_recommendations(week=move_week(at), at=at)
    rows = {row.matter: row for row in Recommendation.objects.all()}
    # What is not added up is another way to the same dollars; what saves nothing frees GPUs.
    judged = [row for row in rows.values() if row.is_counted or not row.proposal["saving"]["high"]]
    known = {matter: planted for planted in world.planted for matter in planted.matters}
    wrong = [row.matter for row in judged if row.matter not in known]
    missed = [min(each.matters) for each in world.planted if not each.matters & rows.keys()]
    look = latest_recommendation_detection_run(at)
    waste = waste_from(look.waste) if look else None
    return {
        "planted": len(world.planted),
        "kinds": len({each.kind for each in world.planted}),
        "proposed": len(judged),
        "precision": round(1 - len(wrong) / len(judged), 3) if judged else None,
        "recall": round(1 - len(missed) / len(world.planted), 3),
        "wrong": wrong,
        "missed": missed,
        **_savings(world, rows),
        "waste": _waste(waste),
        "without_counter_evidence": sum(not row.proposal["doubts"] for row in rows.values()),
    }


def _savings(world: Any, rows: dict[str, Any]) -> dict[str, Any]:
    """How far what is promised is from what was planted: of measured ranges the likely saving, of assumed ones the range."""
    errors, off, in_range = [], [], []
    for planted in world.planted:
        found = [rows[matter] for matter in sorted(planted.matters) if matter in rows]
        if not found:
            continue
        row = max(found, key=lambda each: (each.is_counted, each.proposal["worth_micros"]))
        saving = row.proposal["saving"]
        if planted.is_assumed:
            in_range.append(
                saving["low"] <= planted.micros * 1.001 and planted.micros <= saving["high"] * 1.001
            )
            continue
        promised = saving["likely"] if planted.micros else row.proposal["frees_gpu_hours"] or 0.0
        error = promised / (planted.micros or planted.freed) - 1
        errors.append(abs(error))
        if abs(error) > WITHIN:
            off.append(f"{row.matter}: {error:+.0%}")
    return {
        "largest_error": round(max(errors, default=0.0), 3),
        "off": off,
        "assumed_in_range": f"{sum(in_range)} of {len(in_range)}",
    }


def _waste(waste: Any) -> dict[str, Any] | None:
    if waste is None:
        return None
    reasons: Counter[str] = Counter()
    for line in waste.lines:
        reasons["recommended" if line.matter else line.reason] += line.micros
    whole = waste.micros
    return {
        "explained": round(1 - waste.other_micros / whole, 3),
        "covered": round(waste.covered_micros / whole, 3),
        "by_reason": {name: round(micros / whole, 3) for name, micros in reasons.most_common()},
    }


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]))))
