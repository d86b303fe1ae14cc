"""The page of a pool says how much of its price rides on its GPUs, to who sees prices."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from apps.fleet.queries import pools
from apps.ledger.models import Line
from apps.pricing import actions
from apps.pricing.queries.price_policies import policies_of_pool
from tests import make
from tests.apps.console.people import confirmed, signed_in, text_of
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db
MARCH = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _pool() -> None:
    make.make_organisation()
    make.make_node(pool_id=make.make_pool("h100"))


def test_a_pool_says_what_holds_and_what_was_said_before() -> None:
    client = signed_in("finance")
    assert "All of a node’s price rides on" in client.get("/fleet?pool=h100").content.decode()
    for share, month in (("0.85", 3), ("0.725", 4)):
        actions.set_gpu_share(
            pool_id=next(iter(pools())),
            gpu_share=Decimal(share),
            starts_at=MARCH.replace(month=month),
            note="by contract",
            at=MARCH,
        )
    told = client.get("/fleet?pool=h100").content.decode()
    assert "72.5 % of a node’s price rides on the time of its GPUs" in told
    assert ">85 %<" in told
    assert "by contract" in told
    assert "gpu-share" not in client.get("/fleet").content.decode()


def test_who_sees_no_prices_is_not_told() -> None:
    told = signed_in("viewer").get("/fleet?pool=h100").content.decode()
    assert "gpu-share" not in told


def test_another_share_is_looked_at_and_then_holds() -> None:
    pool_id = make.make_pool("a100")
    scene.make_priced_node("gpu-77", pool_id=pool_id)
    scene.settle()
    client, path = signed_in("finance"), f"/fleet/pools/{pool_id}/gpu-share"
    assert path in client.get("/fleet?pool=a100").content.decode()
    asked = {"per_cent": "80", "starts_at": "2026-03-01T00:00", "note": "host by contract"}
    looked = text_of(client.get(path, asked).content.decode())
    assert "80 % of a node’s price in a100 rides on GPUs" in looked
    assert "1 past hour of open months is charged again" in looked

    answer = confirmed(client, path, asked, follow=True)

    told = text_of(answer.content.decode())
    assert answer.redirect_chain == [("/fleet?pool=a100#gpu-share", 302)]
    assert "80 % of a node’s price rides on the time of its GPUs" in told
    assert "host by contract" in told
    (policy,) = policies_of_pool(pool_id)
    assert (policy.gpu_share, policy.starts_at) == (Decimal("0.8"), MARCH)


@pytest.mark.parametrize(
    ("share", "said"),
    [("101", "It lies between 0 and 100."), ("12.34567", "It has at most four decimals.")],
)
def test_what_is_no_share_is_refused_at_its_field(share: str, said: str) -> None:
    pool_id = make.make_pool("a100")
    asked = {"per_cent": share, "starts_at": "2026-03-01T00:00"}
    answer = confirmed(signed_in("platform"), f"/fleet/pools/{pool_id}/gpu-share", asked)
    assert answer.status_code == 400
    assert f'<span class="wrong">{said}</span>' in answer.content.decode()
    assert not policies_of_pool(pool_id)


def test_the_line_of_the_rest_says_what_it_is() -> None:
    pool_id = make.make_pool("a100")
    node_id = scene.make_priced_node("gpu-77", pool_id=pool_id)
    actions.set_gpu_share(
        pool_id=pool_id, gpu_share=Decimal("0.8"), starts_at=MARCH, note="", at=scene.LATER
    )
    scene.settle()
    (line,) = Line.objects.filter(charge__node_id=node_id, state=None)
    told = signed_in("finance").get(f"/costs/lines/2026-03/{line.id}").content.decode()
    assert "carries what of gpu-77 does not ride on its GPUs" in told
