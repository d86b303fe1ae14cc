"""Prices that can be what they say, of GPUs that are where they say."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from statistics import median
from typing import Any, TypeAlias

from apps.economics.gpu_catalogue import gpu_model
from apps.economics.gpu_machines import GpuMachine
from apps.economics.plausibility import TIMES, TIMES_OF_A_LIST, why_implausible
from apps.economics.purchase import PurchaseOption
from apps.placement.queries.places import accelerator_regions
from apps.pricing.queries.comparable_prices import hourly
from apps.pricing.queries.listing import rates_quarantined

Rate: TypeAlias = dict[str, Any]
MachinePlace: TypeAlias = tuple[str, str, str]
"""Provider, region and machine type (or GPU model)."""
Machines: TypeAlias = Mapping[tuple[str, str], GpuMachine]
Amounts: TypeAlias = Mapping[Hashable, Sequence[Decimal]]


def sound_rates(
    rates: Sequence[Rate], machines: Machines, at: datetime
) -> tuple[list[Rate], list[str]]:
    """Those that can be offered, and in words why the others cannot; a price that a person accepted is not doubted.

    A list price on demand is held against its GPU model's (too low: without its GPUs) and its machine's; where it is
    doubted, nothing is offered of this machine there. Spot is held against what is on demand anywhere.
    """
    doubts = _doubtful_places(rates, machines, at)
    regions = accelerator_regions()
    plain = [
        rate for rate in rates if _is_list_on_demand(rate) and _machine_place(rate) not in doubts
    ]
    usual = _amounts_by(plain, _alike_machines)
    sound, left_out = [], []
    for rate in rates:
        why = _where_not(rate, machines, regions)
        if not why and rate["decided_by_id"] is None and rate["kind"] == "list":
            why = doubts.get(_machine_place(rate), "") or _why_unsound(
                rate, usual, _alike_machines, TIMES
            )
        if why:
            left_out.append(f"{rate_name(rate)}: {why}")
        else:
            sound.append(rate)
    return sound, left_out


def rate_name(rate: Rate) -> str:
    """`gcp us-central1 a3-highgpu-8g spot`."""
    words = (rate["provider"], rate["region"], rate["instance_type"] or rate["gpu_model"])
    return " ".join(filter(None, (*words, rate["purchase_option"].replace("_", " "))))


def _doubtful_places(
    rates: Sequence[Rate], machines: Machines, at: datetime
) -> dict[MachinePlace, str]:
    """Machines in regions whose list price on demand waits in quarantine, or cannot be with its GPUs."""
    quarantined_rates = [rate for rate in rates_quarantined(at) if _is_list_on_demand(rate)]
    doubts = {
        _machine_place(rate): "its list price there is in quarantine" for rate in quarantined_rates
    }
    listed = [rate for rate in rates if _is_list_on_demand(rate)]

    def of_model(rate: Rate) -> Hashable:
        machine = _machine_of(rate, machines)
        return None if machine is None else (rate["provider"], machine.gpu_model, rate["currency"])

    def for_a_gpu(rate: Rate) -> Decimal:
        machine = _machine_of(rate, machines)
        gpus = 1 if machine is None or rate["unit"] == "gpu" else machine.gpus
        return hourly(rate["amount"], rate["quantity_seconds"]) / gpus

    by_model = _amounts_by(listed, of_model, for_a_gpu)
    for rate in listed:
        peer_amounts, amount = by_model.get(of_model(rate), ()), for_a_gpu(rate)
        # More is no doubt here: a large machine costs more for each of its GPUs.
        if peer_amounts and amount < median(peer_amounts):
            why = why_implausible(amount.normalize(), peer_amounts, times=TIMES_OF_A_LIST)
            if why:
                doubts.setdefault(_machine_place(rate), f"a GPU-hour on demand at {why}")
    plain = [rate for rate in listed if _machine_place(rate) not in doubts]
    usual = _amounts_by(plain, _alike_machines)
    for rate in plain:
        why = _why_unsound(rate, usual, _alike_machines, TIMES_OF_A_LIST)
        if why:
            doubts.setdefault(_machine_place(rate), f"on demand {why}")
    return doubts


def _where_not(
    rate: Rate, machines: Machines, regions: Mapping[tuple[str, str], frozenset[str]]
) -> str:
    """Whether the region is known to be without the GPU model; empty where nobody said where it is."""
    machine = _machine_of(rate, machines)
    model = None if machine is None else gpu_model(machine.gpu_model)
    there = None if model is None else regions.get((rate["provider"], model.name))
    if there is None or model is None or rate["region"] in there:
        return ""
    return f"{rate['provider']} has no {model.name} in {rate['region']}"


def _why_unsound(rate: Rate, usual: Amounts, key: Callable[[Rate], Hashable], times: int) -> str:
    amount = hourly(rate["amount"], rate["quantity_seconds"])
    return why_implausible(amount, usual.get(key(rate), ()), times=times)


def _amounts_by(
    rates: Iterable[Rate],
    key: Callable[[Rate], Hashable],
    amount: Callable[[Rate], Decimal] = lambda rate: hourly(
        rate["amount"], rate["quantity_seconds"]
    ),
) -> Amounts:
    amounts_by_key: dict[Hashable, list[Decimal]] = defaultdict(list)
    for rate in rates:
        amounts_by_key[key(rate)].append(amount(rate))
    return amounts_by_key


def _alike_machines(rate: Rate) -> Hashable:
    machine = rate["provider"], rate["instance_type"], rate["gpu_model"]
    return *machine, rate["unit"], rate["currency"]


def _machine_of(rate: Rate, machines: Machines) -> GpuMachine | None:
    return machines.get((rate["provider"], rate["instance_type"] or rate["gpu_model"]))


def _machine_place(rate: Rate) -> MachinePlace:
    return rate["provider"], rate["region"], rate["instance_type"] or rate["gpu_model"]


def _is_list_on_demand(rate: Rate) -> bool:
    return bool(rate["purchase_option"] == PurchaseOption.ON_DEMAND and rate["kind"] == "list")
