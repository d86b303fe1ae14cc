"""Scopes that a commitment covers, under the names that pools and the tables of machines and GPUs have."""

from collections.abc import Iterable
from dataclasses import replace

from apps.economics import azure_sizes, ec2_sizes
from apps.economics.focus.names import provider_key, provider_word
from apps.economics.gpu_catalogue import gpu_model, named_gpu
from apps.economics.gpu_machines import GPU_MACHINES, gpu_machine, machine_name
from apps.fleet.queries import PoolFact, pools
from apps.pricing.actions.commitment_checks import CommitmentNotUnderstood
from apps.pricing.queries.commitments import EnteredCommitment

CLOUDS = frozenset(("aws", "gcp", "azure", "oci", *(cloud for cloud, _ in GPU_MACHINES)))


def as_pools_say(commitment: EnteredCommitment) -> EnteredCommitment:
    """The commitment with provider, machines and GPU model as pools say them, else as the tables do.

    What a pool says to the letter stays. Refuses CommitmentNotUnderstood of a GPU model that neither
    knows, or that may be one of several: it would cover nothing.
    """
    all_pools = list(pools().values())
    provider = _provider(commitment.provider.strip(), all_pools)
    ours = [pool for pool in all_pools if provider in ("", pool.provider)]
    prices = {
        _priced_machine(provider, name, ours): price for name, price in commitment.prices.items()
    }
    return replace(
        commitment,
        provider=provider,
        instance_type=_machine(provider, commitment.instance_type.strip(), ours),
        gpu_model=_gpu(commitment.gpu_model.strip(), ours),
        # Of two prices of one machine neither is taken.
        prices=prices if len(prices) == len(commitment.prices) else commitment.prices,
    )


def unknown_names(commitment: EnteredCommitment) -> tuple[str, ...]:
    """Return in sentences which of its names no pool has, nor a table: such a commitment covers nothing.

    `commitment` is as pools say it.
    """
    all_pools = list(pools().values())
    provider, machine = commitment.provider, commitment.instance_type
    names = (
        ("provider", provider, provider in {*CLOUDS, *(pool.provider for pool in all_pools)}),
        (
            "instance type",
            machine,
            machine in {pool.instance_type for pool in all_pools}
            or gpu_machine(provider, machine) is not None
            or ec2_sizes.size_quarters(machine) is not None
            or azure_sizes.ratio(machine) is not None,
        ),
    )
    return tuple(
        f"No pool has the {what} {name!r}, and no table: it covers nothing until a pool has it."
        for what, name, is_known in names
        if name and not is_known
    )


def _provider(text: str, known_pools: Iterable[PoolFact]) -> str:
    names = {
        pool.provider for pool in known_pools if provider_key(pool.provider) == provider_key(text)
    }
    if not text or text in names:
        return text
    return names.pop() if len(names) == 1 else provider_word(text)


def _machine(provider: str, text: str, known_pools: Iterable[PoolFact]) -> str:
    names = {
        pool.instance_type
        for pool in known_pools
        if pool.instance_type.casefold() == text.casefold()
    }
    if text in names:
        return text
    return names.pop() if len(names) == 1 else machine_name(provider, text)


def _priced_machine(provider: str, text: str, known_pools: Iterable[PoolFact]) -> str:
    """A plan's price names a machine, and its platform and tenancy after it where those differ."""
    machine, *terms = text.split() or [""]
    return " ".join([_machine(provider, machine, known_pools), *terms])


def _gpu(text: str, known_pools: Iterable[PoolFact]) -> str:
    names = {pool.gpu_model for pool in known_pools}
    if not text or text in names:
        return text
    named = named_gpu(text)
    models = ", ".join(sorted(model.name for model in named.candidates))
    if not models:
        raise CommitmentNotUnderstood(
            "gpu_model", f"{text!r} is no GPU that the catalogue of models or a pool has"
        )
    if named.part != 1:
        raise CommitmentNotUnderstood("gpu_model", f"{text!r} is a part of a GPU")
    if len(named.candidates) > 1:
        raise CommitmentNotUnderstood("gpu_model", f"{text!r} may be any of {models}: say which")
    (model,) = named.candidates
    same = {name for name in names if gpu_model(name) == model}
    return same.pop() if len(same) == 1 else model.name
