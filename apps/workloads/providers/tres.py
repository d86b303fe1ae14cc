"""Slurm's trackable resources: `cpu=12,mem=62.50G,gres/gpu=2,gres/gpu:h100=2`."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from apps.economics.gpu_slices import slice_share
from apps.workloads.providers.amounts import read_amount
from apps.workloads.providers.job_record import FieldUnreadable

COUNTED = ("gres/gpu", "gres/mig")
_POWERS_OF_1024 = {"K": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}


@dataclass(frozen=True, slots=True)
class Tres:
    """The resources that a job was allocated, over all its nodes. None: the text does not say.

    `gpus` counts a MIG slice as its part of a GPU. `gpu_type` is the one type of its GPUs; empty
    where none, or several, are named. `unread` are generic resources that nothing here reads, and
    types whose part of a GPU is not known.
    """

    cpus: Fraction | None = None
    nodes: int | None = None
    memory_bytes: int | None = None
    gpus: Fraction | None = None
    shards: Fraction = Fraction(0)
    gpu_type: str = ""
    unread: tuple[str, ...] = ()


# A file repeats the same few texts, as it does node lists.
@lru_cache(maxsize=4096)
def read_tres(text: str, *, field_name: str) -> Tres:
    """Read one TRES text.

    `gres/gpu` is the total and its typed forms (`gres/gpu:h100`) say what it is made of, so the
    two are never added; where only typed ones are there, they add up among themselves.
    """
    amounts: dict[str, str] = {}
    for pair in filter(None, text.strip().split(",")):
        key, separator, amount = pair.partition("=")
        if not separator:
            raise FieldUnreadable(field_name, f"{pair!r} is not name=amount")
        amounts[key.strip()] = amount.strip()
    counted = _counted(amounts, field_name)
    return Tres(
        cpus=_read_quantity(amounts["cpu"], field_name) if "cpu" in amounts else None,
        nodes=int(_read_quantity(amounts["node"], field_name)) if "node" in amounts else None,
        memory_bytes=int(_read_quantity(amounts["mem"], field_name, unit="M"))
        if "mem" in amounts
        else None,
        gpus=_gpus(counted),
        shards=_of_kind("gres/shard", amounts, field_name),
        gpu_type=_only_type("gres/gpu", amounts),
        unread=tuple(sorted(_unread_resources(amounts, counted))),
    )


def share_of(resource: str) -> Fraction | None:
    """Return the part of a GPU that one of a generic resource is (`gres/gpu:h100`); None: of a part nobody knows."""
    return slice_share(resource.removeprefix("gres/gpu:").removeprefix("gres/"))


def _counted(amounts: dict[str, str], field_name: str) -> dict[str, Fraction]:
    """How many of each type, and under the resource's own name what of its total no type names."""
    counted: dict[str, Fraction] = {}
    for resource in COUNTED:
        typed = {
            key: _read_quantity(amount, field_name)
            for key, amount in amounts.items()
            if key.startswith(f"{resource}:")
        }
        counted |= typed
        if resource in amounts:
            total = _read_quantity(amounts[resource], field_name)
            counted[resource] = total - sum(typed.values(), Fraction(0))
    return counted


def _gpus(counted: dict[str, Fraction]) -> Fraction | None:
    """GPUs, a slice as its part; None where none are named, or a slice's part is not known."""
    gpus = Fraction(0)
    for resource, count in counted.items():
        share = share_of(resource)
        if share is None and count:
            return None
        gpus += count * (share or 0)
    return max(gpus, Fraction(0)) if counted else None


def _unread_resources(amounts: dict[str, str], counted: dict[str, Fraction]) -> Iterable[str]:
    """Names that change nothing here: other generic resources, and types of unknown size."""
    yield from (name for name, count in counted.items() if count and share_of(name) is None)
    for key in amounts:
        kind = key.partition(":")[0]
        if kind.startswith("gres/") and kind not in (*COUNTED, "gres/shard"):
            yield kind


def _only_type(kind: str, amounts: dict[str, str]) -> str:
    types = [key.removeprefix(f"{kind}:") for key in amounts if key.startswith(f"{kind}:")]
    return types[0] if len(types) == 1 else ""


def _of_kind(kind: str, amounts: dict[str, str], field_name: str) -> Fraction:
    if kind in amounts:
        return _read_quantity(amounts[kind], field_name)
    typed = (amount for key, amount in amounts.items() if key.startswith(f"{kind}:"))
    return sum((_read_quantity(amount, field_name) for amount in typed), Fraction(0))


def _read_quantity(amount: str, field_name: str, *, unit: str = "") -> Fraction:
    """`62.50G` in bytes for memory (a bare number counts in `unit`), `2K` as 2,048 for counts."""
    number, letter = amount, unit
    if amount[-1:].upper() in _POWERS_OF_1024:
        number, letter = amount[:-1], amount[-1:].upper()
    value = read_amount(number, field_name=field_name, of="an amount")
    return value * int(1024 ** _POWERS_OF_1024.get(letter, 0))
