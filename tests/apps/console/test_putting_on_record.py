"""Pools, nodes and join tokens are made in the browser, and say what they would cost first."""

import html
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from time import process_time

import pytest
from django.core.cache import cache
from django.core.management import call_command

from apps.accounts.queries.trail import changes
from apps.console.pages.setup.new_nodes import written_nodes
from apps.fleet import actions
from apps.fleet import queries as fleet
from apps.fleet.models import JoinToken, Node, Pool
from apps.workloads.queries import UnknownNodeName, unknown_nodes
from tests import make
from tests.apps.console.people import confirmed, signed_in, words_of
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)
ACCOUNTING = Path(__file__).resolve().parents[2] / "journeys" / "accounting.psv"
POOL = {
    "name": "h100", "cluster": "", "new_cluster": "atlas", "unit": "gpu", "gpus_per_node": "8",
    "gpu_model": "NVIDIA H100 80GB HBM3", "purchase_option": "owned", "provider": "own",
    "region": "", "instance_type": "", "owner": "",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _organisation() -> None:
    cache.clear()
    make.make_organisation()


@pytest.mark.parametrize(
    ("role", "may_add", "may_read"),
    [("platform", True, True), ("finance", False, True), ("viewer", False, False)],
)
def test_without_nodes_only_steps_that_the_viewer_may_take_are_offered(role, may_add, may_read):
    client = signed_in(role)
    page = client.get("/fleet").content.decode()
    body = page[page.index("No nodes yet") :]
    for address, may in (("/fleet/pools/new", may_add), ("/setup/first-day", may_read)):
        assert (f'href="{address}"' in body) == may == (client.get(address).status_code == 200)


def test_a_join_token_is_shown_once_lets_nodes_in_and_is_revoked_in_the_trail():
    petra, pool_id = signed_in("platform"), make.make_pool("h100")
    cluster_id = make.make_cluster("borealis")
    asked = {"name": "image", "cluster": cluster_id, "node_names": "gpu-*, big-1", "tells": "yes"}
    asked |= {"pool": pool_id, "days": "30"}
    scene.make_rate(pool_id)
    looked = words_of(petra.get("/people/join-tokens/make", asked))
    assert "Nodes of borealis named gpu-* and big-1 come in with it" in looked
    assert "is put into h100 as it comes, and costs from then on." in looked
    assert "A node costs $2,360 a day, $70,790 in 30 days, at the price of today." in looked
    assert JoinToken.objects.count() == 0
    page = words_of(confirmed(petra, "/people/join-tokens/make", asked))
    (secret,) = set(re.findall(r"rrj_[\w-]{40,}", page))
    assert "pip install 'http://testserver/downloads/runrate_agent-" in page
    assert (
        "'join_token_file = \"/etc/runrate/join.token\"' '[holders]' 'cluster = \"borealis\"'"
        in page
    )
    assert f"printf '%s\\n' {secret} > /etc/runrate/join.token" in page
    assert secret not in petra.get("/people/join-tokens").content.decode()

    machine = actions.JoiningNode("gpu-7", "m-1", "nvml", "0.2")
    joined = actions.join_node(secret=secret, node=machine, at=datetime.now(UTC))
    assert joined.node_name == "gpu-7"
    row = petra.get("/people/join-tokens.csv").content.decode().splitlines()[1]
    assert row.startswith('image,borealis,"gpu-*, big-1",h100,ingest jobs,1,')

    token = JoinToken.objects.get()
    revoke = f"/people/join-tokens/{token.id}/revoke"
    assert "1 agent came with it" in words_of(petra.get(revoke))
    assert confirmed(petra, revoke, {})["Location"] == "/people/join-tokens"
    assert "The join token image was revoked" in words_of(petra.get(revoke))
    with pytest.raises(actions.JoinTokenOver):
        actions.join_node(secret=secret, node=machine, at=datetime.now(UTC))
    assert [(each.verb, each.name, each.who) for each in changes(kind="join token")] == [
        ("changed", "image", "Platform"),
        ("added", "image", "Platform"),
    ]
    assert "digest" not in {field.name for field in changes(kind="join token")[1].fields}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"node_names": " , "}, "Give the names of nodes, or patterns such as gpu-*"),
        ({"days": "0"}, "A join token is valid for 1 to 3,650 days"),
        ({"days": "99999999"}, "A join token is valid for 1 to 3,650 days"),
        ({"cluster": "0"}, "Choose one of the list."),
    ],
)
def test_a_join_token_that_lets_nobody_in_is_not_made(wrong, said):
    asked = {"name": "", "cluster": make.make_cluster("borealis"), "node_names": "gpu-*"}
    asked |= {"tells": "no", "pool": "", "days": "1"}
    answer = confirmed(signed_in("platform"), "/people/join-tokens/make", asked | wrong)
    assert (answer.status_code, JoinToken.objects.count()) == (400, 0)
    assert said in words_of(answer)


def test_finance_sees_join_tokens_and_makes_none():
    finance = signed_in("finance")
    page = words_of(finance.get("/people/join-tokens"))
    assert "No join token is valid" in page
    assert "Create join token" not in page
    assert finance.post("/people/join-tokens/make").status_code == 403
    assert "Add a pool" in words_of(signed_in("platform").get("/people/join-tokens"))


def test_a_pool_is_added_with_its_cluster_after_a_look_at_what_its_nodes_cost():
    petra = signed_in("platform")
    looked = words_of(petra.get("/fleet/pools/new", POOL))
    assert (
        "Nodes of h100 have 8 × NVIDIA H100 80GB HBM3 each, bought as owned of the cluster atlas"
        in looked
    )
    assert "The cluster atlas is added with it." in looked
    assert "what its nodes cost is unknown until somebody says it, never nothing" in looked
    assert not Pool.objects.exists()

    answer = confirmed(petra, "/fleet/pools/new", POOL | {"back_to": "setup"})
    assert answer["Location"] == "/setup"
    pool = Pool.objects.get(name="h100")
    assert (pool.cluster.name, pool.gpus_per_node, pool.owner_team_id) == ("atlas", 8, None)
    again = petra.get("/fleet/pools/new", POOL)
    assert "There is a pool named 'h100' already" in words_of(again)
    both = POOL | {"name": "b", "cluster": str(pool.cluster_id)}
    assert "choose a cluster, or name a new one; not both" in words_of(
        petra.get("/fleet/pools/new", both)
    ).replace("Choose", "choose")


def test_a_description_that_a_price_is_of_is_priced_before_it_is_a_pool():
    make.make_rate(pool_id=None, provider="own", gpu_model=POOL["gpu_model"], amount="2", unit="gpu",
                   purchase_option="owned")  # fmt: skip
    looked = words_of(signed_in("platform").get("/fleet/pools/new", POOL))
    assert "A node costs $384 a day, $11,520 in 30 days, at the price of today." in looked


def test_nodes_are_added_by_hand_from_a_list_after_a_look_at_what_they_cost():
    petra, pool_id = (
        signed_in("platform"),
        make.make_pool("h100", cluster_id=make.make_cluster("a")),
    )
    scene.make_rate(pool_id, Decimal(10), starts_at=None)
    today = datetime.now(UTC).date()
    asked = {
        "nodes": f"gpu-[01-03]\r\ngpu-09,{today - 3 * DAY},4", "pool": pool_id, "units": "",
        "from": (today - DAY).isoformat(), "until": "",
    }  # fmt: skip
    looked = words_of(petra.get("/fleet/nodes/new", asked))
    assert "4 nodes of h100 with 4 to 8 GPUs: gpu-01, gpu-02, gpu-03, gpu-09." in looked
    assert "They cost $960 a day, $28,800 in 30 days" in looked
    assert "1 node of h100" not in looked
    answer = confirmed(petra, "/fleet/nodes/new", asked, follow=True)
    assert "4 nodes of h100 added." in words_of(answer)
    lives = fleet.nodes_named(Pool.objects.get(id=pool_id).cluster_id, ["gpu-09"])
    assert lives["gpu-09"][0][1].date() == today - 3 * DAY
    again = petra.get("/fleet/nodes/new", asked | {"nodes": "gpu-02"})
    assert "Gpu-02 is on record then already" in words_of(again).replace("gpu-02 is", "Gpu-02 is")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"nodes": ""}, "Name at least one node."),
        ({"nodes": "a\na"}, "Named twice: a."),
        ({"nodes": "a\ngpu-[1-"}, "Line 2: "),
        ({"nodes": "a,soon"}, "Line 1: Say a day, as in 2026-11-01."),
        ({"nodes": "a[1-5000]\nb"}, "At most 5,000 nodes are added at once: divide the list."),
        ({"nodes": "a[1-99999]"}, "At most 5,000 nodes are added at once: divide the list."),
        ({"units": "0"}, "A node has 1 to 9,999"),
        ({"units": "9999999999"}, "A node has 1 to 9,999"),
        ({"nodes": "a,,none"}, "Line 1: 'none' is no count of GPUs."),
        ({"until": "2026-01-01"}, "They end after they begin"),
        ({"from": "2999-01-01"}, "A node costs money from a day that was"),
    ],
)
def test_a_list_that_cannot_be_followed_says_where(wrong, said):
    asked = {"nodes": "a", "pool": make.make_pool("h100"), "units": "", "from": "2026-02-01"}
    answer = signed_in("platform").post("/fleet/nodes/new", asked | {"until": ""} | wrong)
    assert (answer.status_code, Node.objects.count()) == (400, 0)
    assert said in words_of(answer)


def test_a_long_list_is_read_at_once():
    began = process_time()
    assert len(written_nodes("\n".join(f"gpu-{number}" for number in range(5000)))) == 5000
    assert process_time() - began < 1


@pytest.mark.parametrize("count", ["0", "10000", "9999999999"])
def test_a_pool_whose_nodes_no_node_is_like_is_not_added(count):
    answer = signed_in("platform").post("/fleet/pools/new", POOL | {"gpus_per_node": count})
    assert (answer.status_code, Pool.objects.count()) == (400, 0)
    assert "A node has 1 to 9,999" in words_of(answer)


@pytest.fixture
def told_by_a_file() -> dict[str, UnknownNodeName]:
    """What an accounting file told: jobs of 3 and 4 March 2025 on gpu-01 and -02, cpu-01 and -02."""
    call_command("import_sacct", str(ACCOUNTING))
    return {each.node_name: each for each in unknown_nodes()}


def test_nodes_of_a_file_are_offered_unticked_with_their_gpus(told_by_a_file):
    petra = signed_in("platform")
    assert "They need a pool first." in words_of(petra.get("/setup"))
    links = re.findall(r'href="(/fleet/pools/new[^"]+)"', page_of(petra))
    (link,) = (each for each in links if "gpu_model" in each)
    form = petra.get(html.unescape(link)).content.decode()
    assert 'name="gpu_model" type="text" value="h100"' in form
    assert 'name="gpus_per_node" type="text" value="8"' in form
    make.make_pool("big")
    answer = petra.get("/setup")
    assert "checked" not in answer.content.decode()
    page = words_of(answer)
    assert "2 nodes named by schedulers" in page
    assert "gpu-02 atlas 8 h100 3" in page
    assert "2 nodes on which no job held a GPU" in page
    assert "2 questions wait" in page
    ticked = petra.get("/setup?tick=unknown-nodes").content.decode()
    assert len(re.findall(r'name="node" value="[^"]+" checked', ticked)) == 2
    assert 'name="until" type="date" value="2025-03-05"' in page_of(petra)


def page_of(client) -> str:
    return client.get("/setup").content.decode()


def test_dollars_are_said_and_what_was_chosen_is_not_asked_again(told_by_a_file):
    petra, pool_id = signed_in("platform"), make.make_pool("big", gpus_per_node=4)
    scene.make_rate(pool_id, Decimal(10), starts_at=None)
    name = told_by_a_file["gpu-02"]
    asked = {
        "node": [f"{name.cluster_id}/gpu-02", f"{name.cluster_id}/gpu-01"], "pool": pool_id,
        "from": "2025-03-04", "until": "2025-03-06",
    }  # fmt: skip
    looked = words_of(petra.get("/setup/nodes/name", asked))
    assert "They cost $480 a day, $14,400 in 30 days, at the price of today." in looked
    assert "From 4 March 2025 to 6 March 2025 they cost $960 by the pool’s prices" in looked
    assert (
        "Of that $83.33 are of the time of the jobs that name them, 3 March 2025 to 4 March 2025."
        in looked
    )
    assert "Look again: jobs held 8 GPUs of gpu-02 at once, and a node of big has 4." in looked
    confirmed(petra, "/setup/nodes/name", asked)
    page = words_of(petra.get("/setup"))
    assert "named by schedulers" not in page, "what held before its first day is not asked about"
    assert "no job held a GPU" in page


def test_a_node_that_is_not_ours_is_asked_about_no_more_until_somebody_takes_it_back(
    told_by_a_file,
):
    petra, finn = signed_in("platform"), signed_in("finance")
    make.make_pool("big")
    name = told_by_a_file["gpu-02"]
    asked = {"node": [f"{name.cluster_id}/gpu-02", f"{name.cluster_id}/cpu-01"]}
    path = "/setup/nodes/not-ours"
    assert f'formaction="{path}"' in page_of(petra)

    opened = petra.get(path, asked).content.decode()
    assert len(re.findall(r"checked", opened)) == 2
    assert "Say why" not in opened, "nothing is wrong in a form that was only opened"
    assert "Say why" in words_of(petra.get(path, asked | {"reason": ""}))
    looked = words_of(petra.get(path, asked | {"reason": "sold in 2024"}))
    assert "2 nodes will not be asked about again: cpu-01, gpu-02." in looked
    assert "Look again: jobs held 8 GPUs of gpu-02 at once." in looked
    assert confirmed(finn, path, asked | {"reason": "sold"}).status_code == 403
    confirmed(petra, path, asked | {"reason": "sold in 2024"})

    assert {each.node_name for each in unknown_nodes()} == {"gpu-01", "cpu-02"}
    page = petra.get("/setup")
    assert "1 question waits" in words_of(page)
    assert "2 nodes that are not ours" in words_of(page)
    assert "gpu-02 atlas sold in 2024 Platform" in words_of(page)
    assert "sold in 2024" in finn.get("/setup.csv?table=excluded-nodes").content.decode()
    (again,) = re.findall(
        r'formaction="([^"]*)">Ask again<span class="unseen"> about gpu-02', page_of(petra)
    )
    assert finn.post(again).status_code == 403
    assert "It is asked about again." in words_of(petra.post(again, follow=True))
    assert "It was asked about already." in words_of(petra.post(again, follow=True))
    assert "gpu-02" in {each.node_name for each in unknown_nodes()}
    trail = [(each.verb, each.name, each.who) for each in changes(kind="node that is not ours")]
    assert trail == [
        ("removed", "gpu-02", "Platform"),
        ("added", "gpu-02", "Platform"),
        ("added", "cpu-01", "Platform"),
    ]


def test_a_job_after_the_end_of_a_node_is_asked_about(told_by_a_file):
    petra, pool_id = signed_in("platform"), make.make_pool("big")
    key = f"{told_by_a_file['cpu-02'].cluster_id}/cpu-02"
    asked = {"node": key, "pool": pool_id, "from": "2025-03-02", "until": "2025-03-04"}
    confirmed(petra, "/setup/nodes/name", asked)
    assert "cpu-02" in {each.node_name for each in unknown_nodes()}
