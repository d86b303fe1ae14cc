"""What a row pays for is told from what its provider says about it."""

import pytest

from apps.economics.focus.kinds import kind_of
from tests.economics.focus_tables import read_row


@pytest.mark.parametrize(
    ("service", "unit", "kind"),
    [
        (("Compute", "BoxUsage:p5.48xlarge", "On Demand Linux"), "Hrs", "compute"),
        (("AI and Machine Learning", "ml.p5", ""), "Hours", "compute"),
        (("Compute", "A3 Mega GPU", ""), "gpu-hour", "compute"),
        (("Compute", "N1 core", "running in Iowa"), "seconds", "compute"),
        (("Compute", "EBS:VolumeUsage.gp3", "per GB-month"), "GB-Mo", "disk"),
        (("Storage", "anything", ""), "Hours", "disk"),
        (("Compute", "PD capacity", ""), "gibibyte month", "disk"),
        (("Compute", "DataTransfer-Out-Bytes", ""), "GB", "network"),
        (("Networking", "x", ""), "Hours", "network"),
        (("Compute", "NatGateway-Hours", "per NAT Gateway hour"), "Hrs", "network"),
        (("Compute", "BoxUsage", "Windows licence fee"), "Hours", "licence"),
        (("Compute", "SoftwareUsage:t2", "AWS Marketplace software"), "Hrs", "licence"),
        (("Compute", "requests", ""), "Count", "other"),
        (("Databases", "db.r5", ""), "Hours", "other"),
    ],
)
def test_usage_is_of_the_kind_that_its_provider_describes(service, unit, kind):
    assert kind_of(("Usage", "Used", True), service, unit) == kind


@pytest.mark.parametrize(
    ("charge", "kind"),
    [
        (("Tax", "", False), "tax"),
        (("Credit", "", False), "credit"),
        (("Usage", "Unused", True), "commitment"),
        (("Purchase", "", True), "commitment"),
        (("Purchase", "", False), "compute"),
    ],
)
def test_tax_credit_and_commitments_are_told_before_the_service(charge, kind):
    assert kind_of(charge, ("Compute", "BoxUsage", ""), "Hrs") == kind


def test_a_row_without_a_pricing_unit_is_told_by_what_it_consumed():
    assert read_row(PricingUnit="", ConsumedUnit="Hours").frame.kind == "compute"
    assert read_row(PricingUnit="", ConsumedUnit="GB").frame.kind == "other"
