"""What an AWS account bought, holds, may have and runs, in the words of AWS's own wire."""

from dataclasses import dataclass, field
from datetime import datetime

EC2_NAMESPACE = "http://ec2.amazonaws.com/doc/2016-11-15/"


@dataclass
class FakeAccount:
    """Rows by what is asked for; each is what the wire says of it."""

    reserved: list[dict] = field(default_factory=list)
    capacity: list[dict] = field(default_factory=list)
    instances: list[dict] = field(default_factory=list)
    plans: list[dict] = field(default_factory=list)
    plan_prices: dict[str, list[dict]] = field(default_factory=dict)
    quotas: list[dict] = field(default_factory=list)
    rows_a_page: int = 2

    def ec2(self, query: dict[str, str]) -> str | None:
        """The XML that EC2 answers with; None where it is asked for something else."""
        action = query["Action"]
        if action == "DescribeReservedInstances":
            return ec2_answer(
                action, f"<reservedInstancesSet>{items(self.reserved)}</reservedInstancesSet>"
            )
        if action == "DescribeCapacityReservations":
            page, token = self.page(self.capacity, query)
            return ec2_answer(
                action,
                f"<capacityReservationSet>{items(page)}</capacityReservationSet>{token_of(token)}",
            )
        if action == "DescribeInstances":
            page, token = self.page(self.instances, query)
            reservations = "".join(
                f"<item><instancesSet>{items([row])}</instancesSet></item>" for row in page
            )
            return ec2_answer(
                action, f"<reservationSet>{reservations}</reservationSet>{token_of(token)}"
            )
        return None

    def rest(self, path: str, query: dict) -> dict:
        """What Savings Plans answers."""
        if path == "/DescribeSavingsPlans":
            page, token = self.page(self.plans, query, "nextToken")
            return {"savingsPlans": page, **more("nextToken", token)}
        wanted = {each["name"]: each["values"] for each in query["filters"]}
        fitting = [
            row
            for row in self.plan_prices.get(query["savingsPlanId"], [])
            if told(row, "instanceType") in wanted["instanceType"]
            and told(row, "productDescription") in wanted["productDescription"]
        ]
        page, token = self.page(fitting, query, "nextToken")
        return {
            "savingsPlanId": query["savingsPlanId"],
            "searchResults": page,
            **more("nextToken", token),
        }

    def quota_page(self, query: dict) -> dict:
        """What Service Quotas answers."""
        page, token = self.page(self.quotas, query)
        return {"Quotas": page, **more("NextToken", token)}

    def page(
        self, rows: list[dict], query: dict, name: str = "NextToken"
    ) -> tuple[list[dict], str]:
        """Two rows at a time, and where the next ones are."""
        first = int(query.get(name) or 0)
        until = first + self.rows_a_page
        return rows[first:until], str(until) if until < len(rows) else ""


def ec2_answer(action: str, inside: str) -> str:
    """As EC2 wraps it."""
    return f'<{action}Response xmlns="{EC2_NAMESPACE}"><requestId>r</requestId>{inside}</{action}Response>'


def items(rows: list[dict]) -> str:
    """A list of structures, as EC2 writes it; a list inside is one too."""
    return "".join(
        f"<item>{''.join(element(*each) for each in row.items())}</item>" for row in rows
    )


def element(name: str, value: object) -> str:
    """One member of a structure."""
    if isinstance(value, list):
        return f"<{name}>{items(value)}</{name}>"
    if isinstance(value, dict):
        return f"<{name}>{''.join(element(*each) for each in value.items())}</{name}>"
    text = f"{value:%Y-%m-%dT%H:%M:%S}.000Z" if isinstance(value, datetime) else value
    return f"<{name}>{text}</{name}>"


def token_of(token: str) -> str:
    """Where the next page is; nothing on the last."""
    return f"<nextToken>{token}</nextToken>" if token else ""


def more(name: str, token: str) -> dict[str, str]:
    """The same in JSON."""
    return {name: token} if token else {}


def told(row: dict, name: str) -> str:
    """A property of a savings plan's price."""
    return next(each["value"] for each in row["properties"] if each["name"] == name)


def reserved(starts_at: datetime, ends_at: datetime, **given: object) -> dict:
    """Two p5.48xlarge for a year: 100,000 dollars each ahead, and 10 dollars an hour."""
    return {
        "reservedInstancesId": "f127bd27-edb7-44c9-a0eb-0d7e09259af0",
        "instanceType": "p5.48xlarge",
        "start": starts_at,
        "duration": 31_536_000,
        "end": ends_at,
        "fixedPrice": "100000.0",
        "usagePrice": "0.0",
        "instanceCount": 2,
        "productDescription": "Linux/UNIX",
        "state": "active",
        "currencyCode": "USD",
        "offeringType": "Partial Upfront",
        "scope": "Region",
        "recurringCharges": [{"frequency": "Hourly", "amount": "10.0"}],
        **given,
    }


def plan(starts_at: datetime, ends_at: datetime, **given: object) -> dict:
    """A compute savings plan of 40 dollars an hour, nothing ahead."""
    return {
        "savingsPlanId": "5c5d7a3b-9c1a-4a5c-8a37-1c2d3e4f5a6b",
        "savingsPlanArn": "arn:aws:savingsplans::123456789012:savingsplan/5c5d7a3b",
        "savingsPlanType": "Compute",
        "start": f"{starts_at:%Y-%m-%dT%H:%M:%S}.000Z",
        "end": f"{ends_at:%Y-%m-%dT%H:%M:%S}.000Z",
        "state": "active",
        "paymentOption": "No Upfront",
        "productTypes": ["EC2", "Fargate", "Lambda"],
        "currency": "USD",
        "commitment": "40.0",
        "upfrontPaymentAmount": "0.0",
        "recurringPaymentAmount": "40.0",
        "termDurationInSeconds": 31_536_000,
        **given,
    }


def plan_price(amount: str, instance_type: str, region: str = "us-east-1", **given: object) -> dict:
    """What a plan asks for an hour of an instance type."""
    properties = {
        "instanceType": instance_type,
        "region": region,
        "productDescription": "Linux/UNIX",
        "tenancy": "shared",
    }
    return {
        "rate": amount,
        "currency": "USD",
        "unit": "Hrs",
        "productType": "EC2",
        "serviceCode": "AmazonEC2",
        "usageType": f"BoxUsage:{instance_type}",
        "operation": "RunInstances",
        "properties": [{"name": name, "value": value} for name, value in properties.items()],
        **given,
    }


def capacity(starts_at: datetime, ends_at: datetime | None, **given: object) -> dict:
    """A capacity block of four p5.48xlarge."""
    row = {
        "capacityReservationId": "cr-0a1b2c3d",
        "capacityReservationArn": "arn:aws:ec2:us-east-1:123456789012:capacity-reservation/cr-0a1b2c3d",
        "instanceType": "p5.48xlarge",
        "availabilityZone": "us-east-1a",
        "totalInstanceCount": 4,
        "availableInstanceCount": 1,
        "state": "active",
        "startDate": starts_at,
        "createDate": starts_at,
        "reservationType": "capacity-block",
        **given,
    }
    return row if ends_at is None else row | {"endDate": ends_at}


def instance(external_id: str, **given: object) -> dict:
    """A p5.48xlarge that runs in us-east-1a."""
    return {
        "instanceId": external_id,
        "instanceType": "p5.48xlarge",
        "privateDnsName": f"ip-{external_id[2:]}.ec2.internal",
        "placement": {"availabilityZone": "us-east-1a"},
        "cpuOptions": {"coreCount": 96, "threadsPerCore": 2},
        "instanceState": {"code": 16, "name": "running"},
        **given,
    }


def quota(code: str, name: str, value: float) -> dict:
    """A limit of EC2."""
    return {
        "ServiceCode": "ec2",
        "QuotaCode": code,
        "QuotaName": name,
        "Value": value,
        "Unit": "None",
        "Adjustable": True,
    }
