"""Weights divide a node's hour: all of it held costs what the ledger charges, whatever cores count."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.billing_weights import billing_weights


def test_without_weighed_cores_a_gpu_costs_its_hour() -> None:
    found = billing_weights(Fraction(688), gpus=8, cores=128)

    assert (found.gpu, found.core) == (688, 0)


def test_the_worked_example_of_weighed_cores() -> None:
    # 8 GPUs and 128 cores of 0.05: 8 / 14.4 of the node rides on the GPUs.
    found = billing_weights(Fraction(720), gpus=8, cores=128, core_weight=Fraction(5, 100))

    assert (found.gpu, found.core) == (400, 20)


@given(
    st.fractions(0, 10_000),
    st.integers(1, 16),
    st.integers(0, 512),
    st.fractions(0, 2),
    st.fractions(0, 1),
)
def test_a_whole_node_costs_what_it_is_charged(
    hour: Fraction, gpus: int, cores: int, weight: Fraction, share: Fraction
) -> None:
    found = billing_weights(hour, gpus=gpus, cores=cores, core_weight=weight, gpu_share=share)

    assert found.gpu * gpus + found.core * cores == hour * gpus * share


def test_a_node_without_gpus_has_none() -> None:
    with pytest.raises(ValueError, match="without GPUs"):
        billing_weights(Fraction(1), gpus=0)
