"""One machine, however its id is spelt."""

import pytest

from apps.economics.machine_ids import machine_keys

EC2 = (
    "i-0abc1234def567890",
    "I-0ABC1234DEF567890",
    "aws:///us-east-1a/i-0abc1234def567890",
    "aws://us-east-1a/i-0abc1234def567890",
    "arn:aws:ec2:us-east-1:123456789012:instance/i-0abc1234def567890",
    "arn:aws-us-gov:ec2:us-gov-west-1:123456789012:instance/i-0abc1234def567890",
)
GCE = (
    "gce://my-project/us-central1-a/gke-h100-abc",
    "projects/my-project/zones/us-central1-a/instances/gke-h100-abc",
    "//compute.googleapis.com/projects/my-project/zones/us-central1-a/instances/gke-h100-abc",
    "https://www.googleapis.com/compute/v1/projects/my-project/zones/us-central1-a/instances/gke-h100-abc",
)
AZURE = (
    "azure:///subscriptions/S-1/resourceGroups/RG/providers/Microsoft.Compute/virtualMachines/gpu-a",
    "/subscriptions/s-1/resourcegroups/rg/providers/microsoft.compute/virtualmachines/GPU-A",
)
AZURE_SET = (
    "azure:///subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/"
    "virtualMachineScaleSets/aks-gpu/virtualMachines/0",
    "/subscriptions/s/resourcegroups/RG/providers/microsoft.compute/virtualmachinescalesets/aks-gpu/virtualmachines/0/",
)


@pytest.mark.parametrize("spelt", [EC2, GCE, AZURE, AZURE_SET])
def test_every_spelling_of_a_cloud_means_one_machine(spelt: tuple[str, ...]) -> None:
    assert len({machine_keys(each) for each in spelt}) == 1


def test_what_each_is_known_by() -> None:
    assert machine_keys(EC2[2]) == ("i-0abc1234def567890",)
    assert machine_keys(GCE[0]) == ("gce://my-project/us-central1-a/gke-h100-abc", "gke-h100-abc")
    assert machine_keys(AZURE[0])[1] == "gpu-a"
    assert len(machine_keys(AZURE_SET[0])) == 1, "the number in a scale set is nobody's name"
    assert machine_keys("") == machine_keys(" / ") == ()
    assert machine_keys("gpu-01") == ("gpu-01",)
    assert machine_keys("ocid1.instance.oc1.iad.abc") == ("ocid1.instance.oc1.iad.abc",)
    assert machine_keys("coreweave://node/g-17") == ("coreweave://node/g-17", "g-17")
    assert machine_keys("a:b:") == ("a:b:",)


@pytest.mark.parametrize("other", ["i-short", "ami-0abc1234", "arn:aws:s3:::bucket/xi-0abc12345"])
def test_what_only_looks_like_an_instance_is_none(other: str) -> None:
    assert machine_keys(other)[0] == other
