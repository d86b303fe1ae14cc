"""How much of the price of a pool's nodes rides on their GPUs, for who sees prices."""

from decimal import Decimal

from apps.console.kit.request import Context
from apps.console.pages.fleet.values import GpuShare, GpuShareSpan
from apps.fleet.queries import PoolFact
from apps.pricing.queries.price_policies import policies_of_pool

ALL = "All of a node’s price rides on the time of its GPUs."


def gpu_share(pool: PoolFact, context: Context) -> GpuShare | None:
    """What holds now and what was said of it, the newest first; None to who sees no prices."""
    if not context.viewer.sees_prices:
        return None
    history = policies_of_pool(pool.id)
    now = [
        each.gpu_share
        for each in history
        if (each.starts_at is None or each.starts_at <= context.at)
        and (each.ends_at is None or context.at < each.ends_at)
    ]
    return GpuShare(
        said=_said(now[0]) if now else ALL,
        history=tuple(
            GpuShareSpan(_per_cent(each.gpu_share), each.starts_at, each.ends_at, each.note)
            for each in history
        ),
        command=f".venv/bin/python manage.py set_gpu_share {pool.name} 0.85 --from "
        f"{context.at.astimezone(context.zone):%Y-%m-%d} --preview",
    )


def _said(share: Decimal) -> str:
    if share == 1:
        return ALL
    return (
        f"{_per_cent(share)} of a node’s price rides on the time of its GPUs; the rest is a line of "
        "the pool’s owner."
    )


def _per_cent(share: Decimal) -> str:
    """Exactly what was said: a policy is no estimate."""
    return f"{(share * 100).normalize():f} %"
