"""Offers of clouds by the prices in force: every machine type with GPUs, in regions that have them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TypeAlias

from apps.economics.gpu_catalogue import full_gpu_model
from apps.economics.gpu_machines import GpuMachine, gpu_family_of, gpu_machine
from apps.economics.hours import HOUR
from apps.economics.purchase import PurchaseOption
from apps.fleet.queries import PoolFact, pools
from apps.placement.queries.offer_facts import (
    OfferFact,
    hardware_fields,
    micros_of_rate,
    rate_evidence,
)
from apps.placement.queries.sound_rates import Rate, rate_name, sound_rates
from apps.planning.queries.gpu_quotas import GpuQuotaUse
from apps.pricing.queries.converting import Conversion, conversions
from apps.pricing.queries.listing import rates_in_force, spot_extremes
from apps.pricing.queries.price_age import too_old_words

SPOT_SPAN = timedelta(days=7)
OFFERED = (PurchaseOption.ON_DEMAND, PurchaseOption.SPOT)
MachineAt: TypeAlias = tuple[str, str, str, str]
"""Provider, region, machine type, and how it is bought."""


@dataclass(frozen=True, slots=True)
class MarketOffers:
    """Offers of clouds, and in words what was left out and why."""

    offers: list[OfferFact]
    left_out: list[str]


def market_offers(
    covered: Collection[MachineAt], quotas: Sequence[GpuQuotaUse], at: datetime
) -> MarketOffers:
    """By the prices of no pool; `covered` machines have an offer of their pool already."""
    rates = [
        rate
        for rate in rates_in_force(at)
        if rate["pool_id"] is None and rate["purchase_option"] in OFFERED
    ]
    machines = _machines_by_type(rates)
    sound, left_out = sound_rates(rates, machines, at)
    too_old = {rate["id"]: why for rate in sound if (why := too_old_words(rate, at))}
    left_out += [
        f"{rate_name(rate)}: {too_old[rate['id']]}" for rate in sound if rate["id"] in too_old
    ]
    sound = [rate for rate in sound if rate["id"] not in too_old]
    foreign = conversions({rate["currency"] for rate in sound}, at, at + HOUR)
    extremes = spot_extremes(at - SPOT_SPAN, at)
    offers = []
    for place, rate in sorted(_best_by_place(sound).items()):
        machine = machines.get((rate["provider"], rate["instance_type"] or rate["gpu_model"]))
        if machine is None or not rate["region"]:
            why = "it names no region" if machine else _unknown_words(rate)
            left_out.append(f"{rate_name(rate)}: {why}")
        elif place not in covered:
            offers.append(_market_offer(rate, machine, (extremes, foreign), quotas, at))
    return MarketOffers(offers, left_out)


def quotas_of_place(
    quotas: Sequence[GpuQuotaUse], provider: str, region: str, gpu_model: str
) -> list[GpuQuotaUse]:
    """Those that GPUs of this model count against there."""
    return [
        use
        for use in quotas
        if use.quota.provider == provider
        and use.quota.region in ("", region)
        and use.quota.gpu_model in ("", gpu_model)
    ]


def quota_room(
    quotas: Sequence[GpuQuotaUse], provider: str, region: str, gpu_model: str
) -> tuple[int | None, list[str]]:
    """GPUs that the narrowest quota leaves there, and its name; None: no quota was entered."""
    quota_uses = quotas_of_place(quotas, provider, region, gpu_model)
    rooms = [(max(0, use.headroom_gpus), use.quota.name) for use in quota_uses]
    if not rooms:
        return None, []
    room, name = min(rooms)
    return room, [f"the quota {name} leaves {room} GPUs"]


def _market_offer(
    rate: Rate,
    machine: GpuMachine,
    prices: tuple[dict[str, tuple[Decimal, Decimal]], dict[str, list[Conversion]]],
    quotas: Sequence[GpuQuotaUse],
    at: datetime,
) -> OfferFact:
    extremes, foreign = prices
    micros = micros_of_rate(rate["amount"], rate, machine.gpus, foreign)
    ends = extremes.get(rate["target"]) if rate["purchase_option"] == "spot" else None
    low, high = (
        (micros_of_rate(end, rate, machine.gpus, foreign) for end in ends)
        if ends
        else (micros, micros)
    )
    room, notes = quota_room(quotas, rate["provider"], rate["region"], machine.gpu_model)
    if machine.remark:
        notes.append(machine.remark)
    if micros is None:
        notes.append(f"nobody knows what {rate['currency']} is worth this month")
    return OfferFact(
        key=f"market:{rate['target']}",
        name=rate_name(rate),
        option=rate["purchase_option"],
        provider=rate["provider"],
        region=rate["region"],
        instance_type=rate["instance_type"],
        gpu_model=machine.gpu_model,
        gpus_per_node=machine.gpus,
        micros=micros,
        paid_micros=micros,
        low_micros=low,
        high_micros=high,
        free_gpus=room,
        rates=[rate_evidence(rate, at)],
        notes=notes,
        **hardware_fields(machine.gpu_model),
    )


def _machines_by_type(rates: Sequence[Rate]) -> dict[tuple[str, str], GpuMachine]:
    """By provider and machine type (or GPU model): as pools have it, else as that provider's documents do."""
    machines: dict[tuple[str, str], GpuMachine] = {}
    for pool in pools().values():
        if pool.gpus_per_node and not pool.counts_cores and pool.gpu_model:
            machines.setdefault((pool.provider, pool.instance_type), _machine_of(pool))
            machines.setdefault((pool.provider, pool.gpu_model), _machine_of(pool))
    for rate in rates:
        key = rate["provider"], rate["instance_type"] or rate["gpu_model"]
        listed = None if key in machines else _listed_machine(rate)
        if listed is not None:
            machines[key] = listed
    return machines


def _listed_machine(rate: Rate) -> GpuMachine | None:
    if rate["instance_type"]:
        return gpu_machine(rate["provider"], rate["instance_type"])
    # A price of a GPU by its model is of one, whatever machine it is in; that of a slice is of no GPU.
    model = full_gpu_model(rate["gpu_model"]) if rate["unit"] == "gpu" else None
    return None if model is None else GpuMachine(model.name, 1)


def _unknown_words(rate: Rate) -> str:
    model = gpu_family_of(rate["provider"], rate["instance_type"])
    of_it = f" of {model}" if model else ""
    return f"nobody says how many GPUs{of_it} it has"


def _machine_of(pool: PoolFact) -> GpuMachine:
    return GpuMachine(pool.gpu_model, pool.gpus_per_node)


def _best_by_place(rates: Sequence[Rate]) -> dict[MachineAt, Rate]:
    """A contract beats a list price; each is of one machine, place and way of buying."""
    best: dict[MachineAt, Rate] = {}
    for rate in rates:
        machine = rate["instance_type"] or rate["gpu_model"]
        place = rate["provider"], rate["region"], machine, rate["purchase_option"]
        if place not in best or rate["kind"] == "contract":
            best[place] = rate
    return best
