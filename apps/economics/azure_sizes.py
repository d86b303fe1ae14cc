"""How Azure counts the sizes of a series, for reservations that cover any size of it.

"Virtual machine size flexibility with Reserved VM Instances": sizes of one group by their ratio, as of
2026-11. A size that is in no group here is covered by reservations of its own size alone.
"""

GROUPS: dict[str, dict[str, int]] = {
    "dsv2": {
        "standard_ds1_v2": 1,
        "standard_ds2_v2": 2,
        "standard_ds3_v2": 4,
        "standard_ds4_v2": 8,
        "standard_ds5_v2": 16,
    },
}
RATIOS = {name: (group, ratio) for group, sizes in GROUPS.items() for name, ratio in sizes.items()}


def family_of(instance_type: str) -> str:
    """The group of a size; empty of one that no group is known to hold."""
    return RATIOS.get(instance_type.lower(), ("", 0))[0]


def ratio(instance_type: str) -> int | None:
    """How much of a reservation of its group a size takes; None of one that is in no group."""
    entry = RATIOS.get(instance_type.lower())
    return entry[1] if entry else None
