"""Whether the GPUs of a job can start together on what is idle: whole machines first, the rest on one more."""

from collections.abc import Iterable, Sequence


def starts_together(idle: Iterable[int], gpus: int, per_node: int) -> bool:
    """Whether `gpus` fit on nodes that have so many idle each, `per_node` on as many as need be.

    A node may stand for several (a pool that is only counted): it has as many whole ones as its idle GPUs make.
    """
    return _taken_from(list(idle), gpus, per_node) is not None


def idle_gpus_after_placement(idle: Sequence[int], gpus: int, per_node: int) -> list[int]:
    """Return the idle GPUs of each node when `gpus` are held as `starts_together` has them; else of the fullest first."""
    left = _taken_from(list(idle), gpus, per_node)
    if left is not None:
        return left
    left = sorted(idle, reverse=True)
    for place, free in enumerate(left):
        taken = min(free, gpus)
        left[place] -= taken
        gpus -= taken
    return left


def _taken_from(left: list[int], gpus: int, per_node: int) -> list[int] | None:
    """None where they do not fit."""
    whole_nodes, remaining_gpus = divmod(gpus, per_node)
    left.sort(reverse=True)
    for place, free in enumerate(left):
        taken = min(whole_nodes, free // per_node)
        left[place] -= taken * per_node
        whole_nodes -= taken
    if whole_nodes:
        return None
    if not remaining_gpus:
        return left
    # The fullest node that still has enough: others keep their room.
    fitting = [place for place, free in enumerate(left) if free >= remaining_gpus]
    if not fitting:
        return None
    left[min(fitting, key=lambda place: left[place])] -= remaining_gpus
    return left
