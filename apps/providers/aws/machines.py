"""Machines with accelerators that run in an AWS account, a page at a time."""

from collections.abc import Iterator, Mapping
from typing import Any

import boto3

from apps.providers.aws.access import CONFIG, in_words, session_of
from apps.providers.aws.account import is_accelerated
from apps.providers.pace import Pace
from apps.providers.reading import (
    CloudFact,
    MachinesRead,
    ObservedMachine,
    PartRead,
    ReadingRequest,
)

RUNS = ("pending", "running", "stopping", "shutting-down")
LIFECYCLES = {"spot": "spot", "capacity-block": "reserved"}
ROWS_A_PAGE = 500


def read_machines(request: ReadingRequest) -> Iterator[CloudFact]:
    """EC2's instances with accelerators, region by region and page by page."""
    aws_session, token = session_of(request.account), request.token
    for region in request.left(request.account.regions):
        pages = machine_pages(aws_session, region, also=request.instance_types, token=token)
        for machines, following in pages:
            yield MachinesRead(tuple(machines), following)
        yield PartRead(region)
        token = ""


def machine_pages(
    aws_session: boto3.Session, region: str, *, also: frozenset[str], token: str = ""
) -> Iterator[tuple[list[ObservedMachine], str]]:
    """Each page of what runs there, and the token of the next one; begins at `token`.

    Machines without accelerators are left out but for the types `also`. Refuses CloudRefused.
    """
    client = aws_session.client("ec2", region_name=region, config=CONFIG)
    pace = Pace(per_second=5)
    while True:
        pace.wait()
        more: dict[str, Any] = {"NextToken": token} if token else {}
        with in_words():
            page = client.describe_instances(
                Filters=[{"Name": "instance-state-name", "Values": list(RUNS)}],
                MaxResults=ROWS_A_PAGE,
                **more,
            )
            rows: list[Mapping[str, Any]] = [
                {"OwnerId": describe_instance.get("OwnerId", ""), **row}
                for describe_instance in page["Reservations"]
                for row in describe_instance["Instances"]
            ]
        token = page.get("NextToken", "")
        mine = [row for row in rows if is_accelerated(row["InstanceType"], also)]
        yield [_observed_machine(row, region) for row in mine], token
        if not token:
            return


def _observed_machine(row: Mapping[str, Any], region: str) -> ObservedMachine:
    tags = {tag["Key"]: tag["Value"] for tag in row.get("Tags", [])}
    dns = row.get("PrivateDnsName", "")
    names = (row["InstanceId"], tags.get("Name", ""), dns, dns.partition(".")[0])
    cores = row.get("CpuOptions", {})
    return ObservedMachine(
        external_id=row["InstanceId"],
        name=tags.get("Name") or row["InstanceId"],
        names=tuple(dict.fromkeys(name for name in names if name)),
        region=region,
        zone=row.get("Placement", {}).get("AvailabilityZone", ""),
        instance_type=row["InstanceType"],
        purchase_option=LIFECYCLES.get(row.get("InstanceLifecycle", ""), "on_demand"),
        cpus=cores["CoreCount"] * cores["ThreadsPerCore"] if cores else None,
        launched_at=row.get("LaunchTime"),
        platform=row.get("PlatformDetails", ""),
        tenancy=row.get("Placement", {}).get("Tenancy", ""),
        account=row["OwnerId"],
        reservation=row.get("CapacityReservationId", ""),
    )
