"""What was put on record wrongly of a pool or a node is looked at, corrected on its page, and kept in its history."""

from decimal import Decimal

import pytest

from apps.fleet.models import Node, Pool
from apps.ledger.models import Line
from tests import make
from tests.apps.console.people import confirmed, signed_in, text_of
from tests.apps.ledger import scene
from tests.apps.ledger.scene import HOUR, LATER, TEN

pytestmark = pytest.mark.django_db

H100, H200 = "NVIDIA H100 80GB HBM3", "NVIDIA H200"


@pytest.fixture(scope="module")
def pool_id(of_module: None) -> int:
    make.make_organisation()
    made: int = make.make_pool("h100", instance_type="", gpu_model=H100)
    for model, amount in ((H100, "8"), (H200, "10")):
        scene.make_rate(
            None, Decimal(amount), provider="aws", gpu_model=model, starts_at=TEN - HOUR
        )
    make.make_node("gpu-01", pool_id=made, started_at=TEN, at=LATER)
    scene.settle_all()
    return made


def entries(**changed: str) -> dict[str, str]:
    """The form as it opens, but for these."""
    pool = Pool.objects.get(name=changed.pop("name", "h100"))
    known = {
        name: str(getattr(pool, name))
        for name in ("gpu_model", "gpus_per_node", "purchase_option", "provider", "region")
    }
    known |= {"instance_type": pool.instance_type, "idle_sharing": pool.idle_sharing}
    return known | {"owner_team_id": "", "note": "as its invoice says"} | changed


def test_a_pool_is_looked_at_corrected_and_charged_anew_and_its_history_says_who_and_why(
    pool_id: int,
) -> None:
    research = make.make_team("Research")
    client, path = signed_in("platform"), f"/fleet/pools/{pool_id}/correct"
    page = client.get("/fleet?pool=h100").content.decode()
    assert path in page
    opened = client.get(path).content.decode()
    assert f'value="{H100}"' in opened
    asked = entries(gpu_model=H200, owner_team_id=str(research))
    looked = text_of(client.get(path, asked).content.decode())
    assert f"GPU model: {H100} → {H200}." in looked
    assert "Owner team: Platform → Research." in looked
    assert "goes from Platform to Research: about $192.00 as charged now" in looked
    assert "Their effective cost goes from about $" in looked
    assert Pool.objects.get().gpu_model == H100

    answer = confirmed(client, path, asked, follow=True)

    assert answer.redirect_chain == [("/fleet?pool=h100#history", 302)]
    told = text_of(answer.content.decode())
    assert f"gpu model: {H100} → {H200}" in told
    assert "correction note: → as its invoice says" in told.replace("nothing ", "")
    assert "owner team: nothing → Research" in told
    scene.settle_all()
    lines = Line.objects.filter(hour=TEN).values_list("team_id", "effective_micros")
    assert {team_id for team_id, _ in lines} == {research}
    assert sum(micros or 0 for _, micros in lines) == 10_000_000


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"note": ""}, "Say why, in a word or two."),
        ({"provider": "", "gpu_model": H200}, "Say whose machines they are."),
        ({"gpus_per_node": "0"}, "A node has 1 to 9,999."),
        ({}, "That is what is on record of h100 already."),
    ],
)
def test_what_is_no_correction_is_refused_in_words(
    pool_id: int, changed: dict[str, str], said: str
) -> None:
    answer = confirmed(signed_in("platform"), f"/fleet/pools/{pool_id}/correct", entries(**changed))
    assert answer.status_code == 400
    assert said in text_of(answer.content.decode())
    assert Pool.objects.get().gpu_model == H100


def test_a_new_owner_is_told_what_idle_time_comes_with_it_or_that_nobody_knows(
    pool_id: int,
) -> None:
    research = str(make.make_team("Research"))
    client, path = signed_in("platform"), f"/fleet/pools/{pool_id}/correct"
    shared = entries(owner_team_id=research, idle_sharing="by_held_time")
    looked = text_of(client.get(path, shared).content.decode())
    assert "from Platform to Research, as far as it is not shared out." in looked
    assert "By the prices in force its nodes cost the same as before." in looked
    bare = make.make_pool("bare", instance_type="", gpu_model=H100)
    asked = entries(owner_team_id=research, name="bare")
    looked = text_of(client.get(f"/fleet/pools/{bare}/correct", asked).content.decode())
    assert "from Platform to Research; nothing of it has a cost yet." in looked


def test_hardware_of_ones_own_costs_its_plan_and_not_a_price(pool_id: int) -> None:
    path, asked = f"/fleet/pools/{pool_id}/correct", entries(purchase_option="owned")
    looked = text_of(signed_in("platform").get(path, asked).content.decode())
    assert "Bought as: On demand → Owned." in looked
    assert "hardware of your own costs what its plan says" in looked
    assert "Their effective cost" not in looked


def test_a_node_is_corrected_by_what_its_provider_calls_it(pool_id: int) -> None:
    node = Node.objects.get()
    client, path = signed_in("platform"), f"/fleet/nodes/{node.id}/correct"
    page = client.get(f"/fleet/nodes/{node.id}").content.decode()
    assert path in page
    assert f"/fleet/pools/{pool_id}/correct" in page
    looked = text_of(client.get(path, {"provider_id": "i-0abc1234"}).content.decode())
    assert "Known to its provider as: not said → i-0abc1234." in looked
    answer = confirmed(client, path, {"provider_id": "i-0abc1234"}, follow=True)
    assert "Known to its provider as" in text_of(answer.content.decode())
    assert Node.objects.get().provider_id == "i-0abc1234"
    assert confirmed(client, path, {"provider_id": "i-0abc1234"}).status_code == 400
    assert confirmed(client, path, {"provider_id": ""}).status_code == 400


def test_who_does_not_manage_sees_the_record_and_corrects_nothing(pool_id: int) -> None:
    node = Node.objects.get()
    for role, sees_history in (("finance", True), ("viewer", False)):
        client = signed_in(role)
        page = client.get("/fleet?pool=h100").content.decode()
        assert "On record" in text_of(page)
        assert H100 in page
        assert ('id="history"' in page) is sees_history
        assert "/correct" not in page
        assert 'id="record"' not in client.get("/fleet").content.decode()
        for path in (f"/fleet/pools/{pool_id}/correct", f"/fleet/nodes/{node.id}/correct"):
            assert client.get(path).status_code == 403
