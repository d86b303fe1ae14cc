"""AWS's far end on loopback: spot history, price list and roles as the real clients ask for them."""

import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

from tests.apps.pricing.fake_aws_account import FakeAccount

EC2_NAMESPACE = "http://ec2.amazonaws.com/doc/2016-11-15/"
STS_NAMESPACE = "https://sts.amazonaws.com/doc/2011-06-15/"


@dataclass
class FakeAws:
    """What it knows; `refusals` are answered first, each once: (status, code)."""

    spot: list[tuple[str, str, str, datetime]] = field(default_factory=list)
    products: list[dict] = field(default_factory=list)
    refusals: list[tuple[int, str]] = field(default_factory=list)
    rows_a_page: int = 2
    account: FakeAccount = field(default_factory=FakeAccount)
    asked: list[dict[str, str]] = field(default_factory=list)
    url: str = ""

    def answer(self, path: str, target: str, query: dict) -> str:
        """Whatever service it is that is asked."""
        if path.startswith("/Describe"):
            return json.dumps(self.account.rest(path, query))
        if target:
            is_quotas = "ServiceQuotas" in target
            page = self.account.quota_page if is_quotas else self.price_list_page
            return json.dumps(page(query))
        if query["Action"] == "AssumeRole":
            return role_of(query["RoleArn"])
        return self.account.ec2(query) or self.spot_page(query)

    def spot_page(self, query: dict[str, str]) -> str:
        """Newest first; what held at the start comes with it, as AWS does it."""
        starts_at, ends_at = moment(query["StartTime"]), moment(query["EndTime"])
        mine = [row for row in self.spot if row[1] == query["InstanceType.1"]]
        inside = [row for row in mine if starts_at <= row[3] <= ends_at]
        held = {}
        for row in sorted(mine, key=lambda row: row[3]):
            if row[3] < starts_at:
                held[row[0]] = row
        rows = sorted([*inside, *held.values()], key=lambda row: row[3], reverse=True)
        first = int(query.get("NextToken") or 0)
        until = first + self.rows_a_page
        items = "".join(
            f"<item><instanceType>{kind}</instanceType>"
            "<productDescription>Linux/UNIX</productDescription>"
            f"<spotPrice>{amount}</spotPrice><timestamp>{at:%Y-%m-%dT%H:%M:%S}.000Z</timestamp>"
            f"<availabilityZone>{zone}</availabilityZone></item>"
            for zone, kind, amount, at in rows[first:until]
        )
        token = until if until < len(rows) else ""
        return (
            f'<DescribeSpotPriceHistoryResponse xmlns="{EC2_NAMESPACE}"><requestId>r</requestId>'
            f"<spotPriceHistorySet>{items}</spotPriceHistorySet><nextToken>{token}</nextToken>"
            "</DescribeSpotPriceHistoryResponse>"
        )

    def price_list_page(self, query: dict) -> dict:
        """One product a page, those that fit every filter."""
        wanted = {each["Field"]: each["Value"] for each in query["Filters"]}
        fitting = [
            product
            for product in self.products
            if all(product["product"]["attributes"].get(key) == wanted[key] for key in wanted)
        ]
        first = int(query.get("NextToken") or 0)
        more = {"NextToken": str(first + 1)} if first + 1 < len(fitting) else {}
        page = [json.dumps(product) for product in fitting[first : first + 1]]
        return {"FormatVersion": "aws_v1", "PriceList": page, **more}


def moment(text: str) -> datetime:
    """As the client writes it."""
    return datetime.fromisoformat(text).astimezone(UTC)


def product(amount: str, sku: str = "SKU1", **attributes: str) -> dict:
    """A product of the price list: a p5.48xlarge in us-east-1 with Linux, since March 2026."""
    return {
        "product": {
            "sku": sku,
            "productFamily": "Compute Instance",
            "attributes": {
                "instanceType": "p5.48xlarge",
                "regionCode": "us-east-1",
                "operatingSystem": "Linux",
                "tenancy": "Shared",
                "preInstalledSw": "NA",
                "capacitystatus": "Used",
                "marketoption": "OnDemand",
                **attributes,
            },
        },
        "serviceCode": "AmazonEC2",
        "terms": {
            "OnDemand": {
                f"{sku}.JRTCKXETXF": {
                    "effectiveDate": "2026-03-01T00:00:00Z",
                    "priceDimensions": {
                        f"{sku}.JRTCKXETXF.6YS6EN2CT7": {
                            "unit": "Hrs",
                            "pricePerUnit": {"USD": amount},
                        }
                    },
                }
            }
        },
    }


@contextmanager
def serving(fake: FakeAws):
    """`fake` behind an address of its own."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args):
            """Quiet."""

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            is_rest = self.path.startswith("/Describe")
            is_json = is_rest or "X-Amz-Target" in self.headers
            query = json.loads(body) if is_json else {k: v[0] for k, v in parse_qs(body).items()}
            fake.asked.append(query)
            if fake.refusals:
                self.refuse(*fake.refusals.pop(0), is_json=is_json)
            else:
                target = self.headers.get("X-Amz-Target", "")
                self.answer(200, fake.answer(self.path, target, query))

        def refuse(self, status, code, *, is_json):
            words = f"{code} was said"
            xml = f"<Response><Errors><Error><Code>{code}</Code><Message>{words}</Message></Error></Errors></Response>"
            self.answer(status, json.dumps({"__type": code, "message": words}) if is_json else xml)

        def answer(self, status, text):
            self.send_response(status)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    fake.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield fake
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def role_of(arn: str) -> str:
    """What STS answers who may take on a role."""
    return (
        f'<AssumeRoleResponse xmlns="{STS_NAMESPACE}"><AssumeRoleResult><Credentials>'
        "<AccessKeyId>ASIAROLE</AccessKeyId><SecretAccessKey>s</SecretAccessKey>"
        "<SessionToken>t</SessionToken><Expiration>2036-01-01T00:00:00Z</Expiration>"
        f"</Credentials><AssumedRoleUser><Arn>{arn}</Arn><AssumedRoleId>x</AssumedRoleId>"
        "</AssumedRoleUser></AssumeRoleResult></AssumeRoleResponse>"
    )
