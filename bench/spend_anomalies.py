"""Anomalies of spend on series that are known: how many false alarms a year, how many jumps are found, and how soon."""

import csv
import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from apps.economics.spend_detectors import SpendDetector
from apps.economics.spend_watch import (
    FEWEST_SPEND_DAYS,
    days_that_last,
    expected_days,
    on_new_levels,
    out_of_line,
)
from apps.economics.spend_weeks import Days
from bench.machine import ROOT

HISTORY, FOLLOWED = 200, 14
MADE_DAYS, JUMP_DAY, SEEN_FOR = 400, 200, 14
KINDS = ("steady", "month_ends", "wandering", "growing", "bursts", "jobs")
"""Bursts of 20 to 70 % of 2 to 10 days; jobs that come and go by the day, with nothing between them."""
SEEDS = range(100, 112)
"""Not those by which the rule was chosen: these were 0 to 19."""
JUMPS = {"a_third": 1.3, "a_half": 1.5, "double": 2.0}
SPIKE = 3.0
INCIDENT_DAY, INCIDENT_DAYS, INCIDENT = 140, 5, 2.5
"""An incident that is over, after which a level of a third more is new."""
CREEP_A_DAY, CREEP_SEEN_FOR, WEEKEND = 0.01, 35, 2.0
YEAR = 365.0
CALM = ("steady", "month_ends", "wandering", "growing")
MOST_FALSE = {"calm": 0.5, "bursty": 1.5}
LEAST_FOUND = {
    "a_third": 0.4,
    "a_half": 0.9,
    "double": 1.0,
    "creep": 0.8,
    "weekend": 0.8,
    "after_incident": 0.4,
}
"""Of calm series all together, within two weeks (a creep within five)."""


@dataclass(frozen=True, slots=True)
class SpendAlarm:
    """A day on which something was reported, the first that it is of, and what found it."""

    day: int
    began: int
    look: SpendDetector = SpendDetector.DAY


def run(*, data: Path | None = None) -> dict[str, Any]:
    """By kind of series; `skipped` where the public ones are missing."""
    figures: dict[str, Any] = {kind: kind_figures(kind) for kind in KINDS}
    years = len(SEEDS) * (MADE_DAYS - FEWEST_SPEND_DAYS) / YEAR
    of_all = sum(figures[kind]["false_alarms"] for kind in KINDS)
    figures["made_false_in_12_months"] = round(of_all / years / len(KINDS), 2)
    figures["together"] = {
        "calm": _together([figures[kind] for kind in CALM]),
        "bursty": _together([figures[kind] for kind in KINDS if kind not in CALM]),
    }
    folder = data or ROOT.parent / "shared" / "data"
    try:
        figures["public"] = {
            name: public_figures(values) for name, values in openb_days(folder).items()
        }
    except FileNotFoundError:
        figures["skipped"] = f"no public series in {folder}: only made ones were replayed"
    return figures | {"misses": list(_misses(figures))}


def kind_figures(kind: str, seeds: range = SEEDS) -> dict[str, Any]:
    """False alarms of series without a jump, and of jumps how many are found within two weeks, and after how many days."""
    alarms = sum(len(alarms_of(made_days(kind, seed))) for seed in seeds)
    years = len(seeds) * (MADE_DAYS - FEWEST_SPEND_DAYS) / YEAR
    found: dict[str, Any] = {
        "false_alarms": alarms,
        "series_years": round(years, 1),
        "false_in_12_months": round(alarms / years, 2),
    }
    for name, factor in JUMPS.items():
        found[name] = _found([_delay(kind, seed, factor, MADE_DAYS) for seed in seeds])
    found["one_day_triple"] = _found(
        [_delay(kind, seed, SPIKE, JUMP_DAY + 1, within=1) for seed in seeds]
    )
    for name, changed, within in (
        ("creep", creeping, CREEP_SEEN_FOR),
        ("weekend", of_weekends, SEEN_FOR),
        ("after_incident", after_incident, SEEN_FOR),
    ):
        found[name] = _found([_delay_of(changed(made_days(kind, seed)), within) for seed in seeds])
    return found


def creeping(values: Days) -> Days:
    """One per cent more each day, from the jump's on."""
    since = np.maximum(0, np.arange(len(values)) - JUMP_DAY + 1)
    changed: Days = values * np.exp(CREEP_A_DAY * since)
    return changed


def of_weekends(values: Days) -> Days:
    """Weekends, which are the last two of seven days, at the double, from the jump's on."""
    day = np.arange(len(values))
    changed: Days = np.where((day % 7 >= 5) & (day >= JUMP_DAY), WEEKEND * values, values)
    return changed


def after_incident(values: Days) -> Days:
    """Five days at two and a half times two months ago, and a third more from the jump's day on."""
    changed = values.copy()
    changed[INCIDENT_DAY : INCIDENT_DAY + INCIDENT_DAYS] *= INCIDENT
    changed[JUMP_DAY:] *= JUMPS["a_third"]
    return changed


def alarms_of(values: Days, first: int = FEWEST_SPEND_DAYS) -> list[SpendAlarm]:
    """What looks of each day from `first` on report: as the nightly look does, of one series alone."""
    alarms: list[SpendAlarm] = []
    levels: list[tuple[int, float]] = []
    free_from = 0
    for end in range(first + 1, len(values) + 1):
        if end < free_from:
            continue
        start = max(0, end - HISTORY)
        scaled = on_new_levels(values[:end], levels)[start:]
        found = out_of_line(scaled)
        if found is None:
            continue
        began = end - found.ago - found.days
        alarms.append(SpendAlarm(end - 1, began, found.look))
        lasted = _days_lasted(values, began)
        free_from = max(end + 1, began + min(FOLLOWED, lasted + 3))
        if found.look is SpendDetector.CREEP:
            spent = float(scaled[-found.days :].sum())
            levels.append((began, spent / (spent - found.excess)))
        elif lasted >= FOLLOWED:
            levels.append((began, _level_ratio(values, began)))
    return alarms


def made_days(kind: str, seed: int) -> Days:
    """400 days of spend: a week, noise with a memory, and what `kind` says."""
    draw = np.random.default_rng([seed, KINDS.index(kind)])
    day = np.arange(MADE_DAYS)
    week = np.concatenate([1 + draw.uniform(-0.1, 0.1, 5), draw.uniform(0.6, 1.0, 2)])
    noise, errors = np.zeros(MADE_DAYS), draw.normal(0, 0.06, MADE_DAYS)
    for place in range(1, MADE_DAYS):
        noise[place] = 0.4 * noise[place - 1] + errors[place]
    level = np.zeros(MADE_DAYS)
    if kind == "wandering":
        level += np.repeat(np.cumsum(draw.normal(0, 0.04, MADE_DAYS // 7 + 1)), 7)[:MADE_DAYS]
    if kind == "growing":
        level += 0.003 * day
    values: Days = 100 * week[day % 7] * np.exp(level + noise)
    if kind == "month_ends":
        values *= np.where(day % 30 >= 28, 1.6, 1.0)
        values += np.where(day % 30 == 0, 80.0, 0.0)
    if kind in ("bursts", "jobs"):
        values = _with_spells(values, kind, draw)
    return values


def openb_days(folder: Path) -> dict[str, Days]:
    """GPU-hours of each day of the public OpenB trace, whole and by quality of service; 149 days."""
    days = 149
    found: dict[str, Days] = {}
    with gzip.open(folder / "openb" / "openb_pod_list_default.csv.gz", "rt") as text:
        for row in csv.DictReader(text):
            if not row["scheduled_time"]:
                continue
            begins = float(row["scheduled_time"]) / 86_400
            ends = float(row["deletion_time"] or days * 86_400) / 86_400
            gpus = int(row["num_gpu"])
            held = gpus * int(row["gpu_milli"]) / 1_000 if gpus == 1 else gpus
            for name in ("openb", f"openb_{row['qos']}"):
                own = found.setdefault(name, np.zeros(days))
                for day in range(int(begins), min(int(ends) + 1, days)):
                    own[day] += max(0.0, min(ends, day + 1) - max(begins, day)) * 24 * held
    return found


def public_figures(values: Days) -> dict[str, Any]:
    """What is reported of a public series, of which nobody knows what was usual: its days, and how much more it was."""
    alarms = alarms_of(values)
    expected = expected_days(values)
    return {
        "days": len(values) - FEWEST_SPEND_DAYS,
        "reported": len(alarms),
        "of": [
            {
                "day": each.day,
                "times_expected": round(float(values[each.day] / expected[each.day]), 1),
            }
            for each in alarms
            if expected[each.day] > 0
        ],
    }


def _with_spells(values: Days, kind: str, draw: np.random.Generator) -> Days:
    changed: Days = values.copy() if kind == "bursts" else np.zeros(MADE_DAYS)
    day = 0
    while day < MADE_DAYS:
        day += int(draw.integers(5, 25) if kind == "bursts" else draw.integers(1, 15))
        length = int(draw.integers(2, 11) if kind == "bursts" else draw.integers(1, 13))
        size = 1 + draw.uniform(0.2, 0.7) if kind == "bursts" else draw.uniform(0.5, 2.0)
        changed[day : day + length] = values[day : day + length] * size
        day += length
    return changed


def _delay(kind: str, seed: int, factor: float, until: int, within: int = SEEN_FOR) -> int | None:
    """Days after the jump at which it is reported; None where it is not in time."""
    values = made_days(kind, seed)
    values[JUMP_DAY:until] *= factor
    return _delay_of(values, within)


def _delay_of(values: Days, within: int) -> int | None:
    alarms = alarms_of(values[: JUMP_DAY + within], first=JUMP_DAY)
    return alarms[0].day - JUMP_DAY if alarms else None


def _together(kinds: list[dict[str, Any]]) -> dict[str, Any]:
    """False alarms in 12 months of a series, and what is found of each change, over several kinds alike."""
    years = sum(each["series_years"] for each in kinds)
    false = sum(each["false_alarms"] for each in kinds)
    return {
        "false_in_12_months": round(false / years, 2),
        **{
            name: round(float(np.mean([each[name]["found"] for each in kinds])), 2)
            for name in LEAST_FOUND
        },
    }


def _found(delays: list[int | None]) -> dict[str, Any]:
    known = sorted(each for each in delays if each is not None)
    return {
        "found": round(len(known) / len(delays), 2),
        "days_p50": known[len(known) // 2] if known else None,
        "days_p90": known[int(len(known) * 0.9)] if known else None,
    }


def _days_lasted(values: Days, began: int) -> int:
    usual = values[: began + FOLLOWED].copy()
    off = []
    for day in range(began, len(usual)):
        expected = expected_days(usual)[day]
        off.append(float(usual[day] - expected))
        usual[day] = expected
    return days_that_last(off)


def _level_ratio(values: Days, began: int) -> float:
    since = values[began : began + FOLLOWED]
    before = values[began - FOLLOWED : began]
    return float(since.sum() / before.sum()) if before.sum() else 1.0


def _misses(figures: Mapping[str, Any]) -> list[str]:
    """Where the aim is missed: false alarms of calm and of bursty series, and changes of calm ones that are not found."""
    together = figures["together"]
    found = [
        f"{name}: {together[name]['false_in_12_months']} false alarms in 12 months, over {most}"
        for name, most in MOST_FALSE.items()
        if together[name]["false_in_12_months"] > most
    ]
    return found + [
        f"{name}: {together['calm'][name]} are found, under {least}"
        for name, least in LEAST_FOUND.items()
        if together["calm"][name] < least
    ]
