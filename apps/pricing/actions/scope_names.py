"""What a commitment covers, under the names that pools and the tables of machines and GPUs have."""

from collections.abc import Iterable
from dataclasses import replace

from apps.economics import azure_sizes, ec2_sizes
from apps.economics.focus.names import provider_key, provider_word
from apps.economics.gpu_catalogue import gpu_model, named_gpu
from apps.economics.gpu_machines import GPU_MACHINES, gpu_machine, machine_name
from apps.fleet.queries import PoolFact, pools
from apps.pricing.actions.commitment_checks import CommitmentNotUnderstood, NewCommitment

CLOUDS = frozenset(("aws", "gcp", "azure", "oci", *(cloud for cloud, _ in GPU_MACHINES)))


def as_pools_say(commitment: NewCommitment) -> NewCommitment:
    """The commitment with provider, machines and GPU model as pools say them, else as the tables do.

    What a pool says to the letter stays. Refuses CommitmentNotUnderstood of a GPU model that neither
    knows, or that may be one of several: it would cover nothing.
    """
    known = list(pools().values())
    provider = _provider(commitment.provider.strip(), known)
    ours = [pool for pool in known if provider in ("", pool.provider)]
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


def unknown_names(commitment: NewCommitment) -> tuple[str, ...]:
    """Return in sentences which of its names no pool has, nor a table: such a commitment covers nothing.

    `commitment` is as pools say it.
    """
    known = list(pools().values())
    provider, machine = commitment.provider, commitment.instance_type
    names = (
        ("provider", provider, provider in {*CLOUDS, *(pool.provider for pool in known)}),
        (
            "instance type",
            machine,
            machine in {pool.instance_type for pool in known}
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


def _provider(said: str, known: Iterable[PoolFact]) -> str:
    names = {pool.provider for pool in known if provider_key(pool.provider) == provider_key(said)}
    if not said or said in names:
        return said
    return names.pop() if len(names) == 1 else provider_word(said)


def _machine(provider: str, said: str, known: Iterable[PoolFact]) -> str:
    names = {
        pool.instance_type for pool in known if pool.instance_type.casefold() == said.casefold()
    }
    if said in names:
        return said
    return names.pop() if len(names) == 1 else machine_name(provider, said)


def _priced_machine(provider: str, said: str, known: Iterable[PoolFact]) -> str:
    """A plan's price names a machine, and its platform and tenancy after it where those differ."""
    machine, *terms = said.split() or [""]
    return " ".join([_machine(provider, machine, known), *terms])


def _gpu(said: str, known: Iterable[PoolFact]) -> str:
    names = {pool.gpu_model for pool in known}
    if not said or said in names:
        return said
    named = named_gpu(said)
    models = ", ".join(sorted(model.name for model in named.candidates))
    if not models:
        raise CommitmentNotUnderstood(
            "gpu_model", f"{said!r} is no GPU that the catalogue of models or a pool has"
        )
    if named.part != 1:
        raise CommitmentNotUnderstood("gpu_model", f"{said!r} is a part of a GPU")
    if len(named.candidates) > 1:
        raise CommitmentNotUnderstood("gpu_model", f"{said!r} may be any of {models}: say which")
    (model,) = named.candidates
    same = {name for name in names if gpu_model(name) == model}
    return same.pop() if len(same) == 1 else model.name
