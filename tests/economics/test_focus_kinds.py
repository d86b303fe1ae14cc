"""What a row pays for is told from what its provider says about it."""

import pytest

from apps.economics.focus.kinds import ServiceDescription, kind_of, may_be_time
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
        (("Compute", "External IP Charge on a Standard VM", ""), "hour", "network"),
        (("Compute", "", "Static Ip Charge in Iowa"), "hour", "network"),
        (("Compute", "USE1-PublicIPv4:InUseAddress", ""), "Hrs", "network"),
        (("Compute", "CPUCredits:t3", "T3 CPU Credits"), "vCPU-Hours", "other"),
        (("Compute", "BoxUsage", "Windows licence fee"), "Hours", "licence"),
        (("Compute", "SoftwareUsage:t2", "AWS Marketplace software"), "Hrs", "licence"),
        (("Compute", "requests", ""), "Count", "other"),
        (("Databases", "db.r5", ""), "Hours", "other"),
    ],
)
def test_usage_is_of_the_kind_that_its_provider_describes(service, unit, kind):
    assert kind_of(("Usage", "Used", True), ServiceDescription(*service), unit) == kind


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
    assert kind_of(charge, ServiceDescription("Compute", "BoxUsage", ""), "Hrs") == kind


def test_a_row_without_a_pricing_unit_is_told_by_what_it_consumed():
    assert read_row(PricingUnit="", ConsumedUnit="Hours").frame.kind == "compute"
    assert read_row(PricingUnit="", ConsumedUnit="GB").frame.kind == "other"


def test_what_is_billed_with_a_machines_id_and_is_not_its_time_is_not_its_time():
    for usage_type in ("External IP Charge on a Standard VM", "CPUCredits:t3"):
        service = ServiceDescription("Compute", usage_type, "", "Compute Engine")
        assert kind_of(("Usage", "", False), service, "hour", is_of_machine=True) != "compute"


EC2 = "Amazon Elastic Compute Cloud"
BOX = ServiceDescription("Compute", "BoxUsage:p5.48xlarge", "", EC2)


@pytest.mark.parametrize(
    "unit",
    [
        *(
            "Hours",
            "gpu_hour",
            "GPU_HOURS",
            "GPU-min",
            "Minute",
            "Day",
            "1 Day",
            "Month",
            "1/Month",
        ),
        *(
            "instance_hour",
            "Hour(s)",
            "s",
            "",
            "Instance-Days",
            "GPU-mth",
            "gpuhours",
            "H100 hours",
        ),
        *("730 Hours", "Units", "1", "vm"),
    ],
)
def test_a_machine_is_billed_for_its_time_however_the_unit_is_spelt(unit):
    assert kind_of(("Usage", "", False), BOX, unit, is_of_machine=True) == "compute"
    assert may_be_time("Usage", BOX, unit)


@pytest.mark.parametrize(
    "category",
    ["Compute", "", "Virtual Machines", "Other", "Containers", "Machine Learning", "GPU"],
)
@pytest.mark.parametrize("unit", ["Hours", "gpu_hour", ""])
def test_a_machine_is_billed_for_its_time_whatever_its_service_is_filed_under(category, unit):
    service = BOX._replace(category=category)

    assert kind_of(("Usage", "", False), service, unit, is_of_machine=True) == "compute"


@pytest.mark.parametrize(
    ("service", "unit", "kind"),
    [
        (("Storage", "Disk of a machine", "", EC2), "Hours", "disk"),
        (("", "VolumeUsage.gp3", "", EC2), "Month", "disk"),
        (("Compute", "Local storage", "", EC2), "", "other"),
        (("", "Nightly backup", "", EC2), "Month", "other"),
        (("Networking", "x", "", ""), "", "network"),
        (("Compute", "DataTransfer-Regional-Bytes", "", EC2), "", "network"),
        (("Compute", "USE1-USW2-AWS-Out-Bytes", "", EC2), "", "other"),
        (("", "Floating IP", "", "Cloud"), "hour", "other"),
        (("Other", "Public address", "", "Virtual Machines"), "1/Month", "other"),
        (("Compute", "CPUCredits:p5", "", EC2), "", "other"),
        (("Compute", "BoxUsage", "Windows licence fee", EC2), "", "licence"),
        (("Security", "Standard node", "", "Defender for Servers"), "1 Hour", "other"),
        (("Management and Governance", "Instance", "", "Inventory"), "Hours", "other"),
        (("Other", "EC2 instances looked at", "", "Systems Manager"), "Hours", "other"),
        (("Other", "Something", "", "A service"), "Hours", "other"),
        (("Compute", "BoxUsage:p5.48xlarge", "", EC2), "Requests", "other"),
        (("Compute", "Memory", "", ""), "TB-Month", "other"),
        (("Virtual Machines", "Memory", "", ""), "GB", "other"),
        (("", "Use", "", "Gateway"), "1M", "other"),
    ],
)
def test_what_is_billed_with_a_machines_id_and_says_what_it_is_stays_beside_it(service, unit, kind):
    said = ServiceDescription(*service)

    assert kind_of(("Usage", "", False), said, unit, is_of_machine=True) == kind
    assert not may_be_time("Usage", said, unit)


@pytest.mark.parametrize("category", ["Purchase", "Adjustment"])
def test_a_fee_or_a_discount_without_a_unit_is_no_machines_time(category):
    assert kind_of((category, "", False), BOX, "", is_of_machine=True) == "other"


def test_a_row_says_by_its_resource_id_whether_it_is_of_a_machine():
    ours = {"PricingUnit": "", "ConsumedUnit": "", "ServiceCategory": ""}
    told, untold = (
        read_row(ResourceId=resource, **ours).frame
        for resource in ("arn:aws:ec2:us-east-1:17:instance/i-0123456789abcdef0", "cluster-7")
    )
    requests = read_row(ResourceId="cluster-7", **(ours | {"PricingUnit": "Requests"})).frame

    assert (told.kind, untold.kind, requests.kind) == ("compute", "other", "other")
    # What would be time if a node were called so is not mixed with what never is.
    assert untold.traits != requests.traits
