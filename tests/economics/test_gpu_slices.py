"""What part of a GPU a name is that a scheduler gives a slice: known, or unknown, never the whole."""

from fractions import Fraction

import pytest

from apps.economics.gpu_catalogue import named_gpu
from apps.economics.gpu_slices import slice_share


@pytest.mark.parametrize(
    "name",
    [
        "a100_1g.10gb", "a100.1g.10gb", "a100_1g_10gb", "a100-1g-10gb", "1g.10gb", "1g10gb", "1g10",
        "mig1g10", "mig:1g.10gb", "mig-1g.10gb", "MIG 1g.10gb", "a100-sxm4-80gb.mig-1g.10gb",
        "nvidia_a100-sxm4-80gb_1g.10gb", "h100_mig_1g_10gb", "mig:h100_1g.10gb", "h100_1g.10gb+gfx",
        "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb",
    ],
)  # fmt: skip
def test_a_seventh_is_one_under_every_spelling(name):
    assert slice_share(name) == Fraction(1, 7)


@pytest.mark.parametrize(
    ("name", "share"),
    [
        ("h100_3g.40gb", Fraction(1, 2)), ("h100.1g.20gb.me", Fraction(1, 4)),
        ("a30_2g12gb", Fraction(1, 2)), ("7g80gb", Fraction(1)),
    ],
)  # fmt: skip
def test_a_slice_is_the_larger_of_its_parts(name, share):
    assert slice_share(name) == share


@pytest.mark.parametrize(
    "name",
    [
        "vgpu_10c", "vgpu", "a100-10c", "grid_a100-10c", "mps", "shard", "a100_shards", "mig", "a100_mig",
        "a100mig1g10gb", "2g9gbx", "h100_1g.11gb", "v100_1g.10gb", "mycard_1g.10gb", "8g.10gb",
    ],
)  # fmt: skip
def test_a_part_of_unknown_size_is_no_whole_gpu(name):
    assert slice_share(name) is None


@pytest.mark.parametrize(
    "name",
    [
        "", "gpu", "h100", "a100-sxm4-80gb", "nvidia_h100_80gb_hbm3", "gh200_144g_hbm3e", "rtx_3090",
        "tesla_v100s", "gtx1080ti", "mi210", "radeon", "rtx_a6000", "migrated_node",
    ],
)  # fmt: skip
def test_a_gpu_is_one_also_where_no_model_has_its_name(name):
    assert slice_share(name) == 1


def test_the_catalogue_reads_the_same_spellings():
    assert (
        named_gpu("a100.1g.10gb").part == named_gpu("a100-sxm4-80gb_mig1g10").part == Fraction(1, 7)
    )
