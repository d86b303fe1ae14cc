"""Things that tests need, made through the actions people and machines use."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from apps.accounts import actions as accounts
from apps.fleet import actions as fleet
from apps.fleet.models import Cluster
from apps.pricing import actions as pricing
from apps.web.rest.examples import requests_of

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
"""The moment at which tests do things, unless they say another: a Monday."""
SCENARIO: dict[str, Any] = requests_of("evaluate_crossover")["Scenario"]["scenario"]
"""One of a crossover, as REST's example sends it."""


def make_organisation(**given: Any) -> None:
    """An organisation with the teams Platform and Unowned."""
    values = {"name": "Atlas Labs", "currency": "USD", "zone": "UTC", "week_starts_on": 1}
    accounts.bootstrap(organisation=accounts.Bootstrap(**values | given), at=NOON)


def make_team(name: str = "Research", **given: Any) -> int:
    """A team at the top of the tree."""
    return accounts.add_team(name=name, **given)


def make_person(email: str = "ada@example.org", **given: Any) -> int:
    """Someone of the role platform who signs in with `correct horse battery`."""
    values = {"name": "Ada", "role": "platform", "password": "correct horse battery"}
    return accounts.add_person(email=email, **values | given)


def take_names_out(
    *names: str, person_id: int | None = None, at: datetime = NOON, **given: Any
) -> accounts.TakenOut:
    """As somebody asks for it and a worker does it, but for files."""
    removal_id = accounts.begin_removal(names=names, person_id=person_id, by=None, at=at)
    return accounts.go_on_removing(removal_id=removal_id, at=at, **given)


def make_token(*scopes: str, **given: Any) -> accounts.IssuedToken:
    """A token with these scopes (none said: ingest) that never expires."""
    values = {"name": "a token", "scopes": scopes or ("ingest",), "expires_at": None, "at": NOON}
    return accounts.make_token(**values | given)


def make_cluster(name: str = "atlas", **given: Any) -> int:
    """The cluster of this name, made where there is none."""
    found = Cluster.objects.filter(name=name).values_list("id", flat=True).first()
    return found or fleet.add_cluster(name=name, **{"kind": "slurm", "at": NOON} | given)


def make_pool(name: str = "h100", **given: Any) -> int:
    """Eight H100 to a node, on demand, of provider `aws` in us-east-1."""
    values = {
        "provider": "aws",
        "region": "us-east-1",
        "instance_type": "p5.48xlarge",
        "gpu_model": "NVIDIA H100 80GB HBM3",
        "gpus_per_node": 8,
        "purchase_option": "on_demand",
    }
    return fleet.add_pool(pool=fleet.EnteredPool(name=name, **values | given), at=NOON)


def make_node(name: str = "gpu-01", *, at: datetime = NOON, **given: Any) -> int:
    """A node of eight GPUs that lives from `at` on, in a pool of its own where none is given."""
    values = {"started_at": at, "units": 8} | given
    if "pool_id" not in values:
        values["pool_id"] = make_pool(f"pool of {name}")
    return fleet.add_node(node=fleet.NewNode(name=name, **values), at=at)


def make_device(uuid: str = "GPU-0", *, node_id: int, at: datetime = NOON, **given: Any) -> int:
    """A device that an agent has seen on this node since `at`."""
    seen = fleet.ObservedDevice(uuid=uuid, **{"model": "NVIDIA H100 80GB HBM3"} | given)
    return fleet.register_devices(node_id=node_id, devices=[seen], at=at, seen_from=at)[uuid]


def make_agent(*, node_id: int, token_id: int | None = None, **given: Any) -> int:
    """An agent of this node; its token has the scope ingest."""
    values = {"source": "simulated", "at": NOON} | given
    return fleet.bind_agent(node_id=node_id, token_id=token_id or make_token().id, **values)


def make_rate(amount: str = "55.04", *, at: datetime = NOON, **given: Any) -> int:
    """A list price per hour for a p5.48xlarge on demand in us-east-1 from `NOON` on."""
    values: dict[str, Any] = {
        "kind": "list",
        "currency": "USD",
        "starts_at": NOON,
        "purchase_option": "on_demand",
    }
    if "pool_id" not in given:
        values |= {
            "provider": "aws",
            "region": "us-east-1",
            "instance_type": "p5.48xlarge",
        }
    rate = pricing.EnteredRate(amount=Decimal(amount), **values | given)
    return pricing.add_rate(rate=rate, at=at)
