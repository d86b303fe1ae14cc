"""How clouds, their schedulers' nodes and their bills spell the id of one machine."""

import re
from collections.abc import Callable

Spelled = tuple[str, ...]
"""The keys of a machine in lower case, the one that says most first."""

# EC2: the instance id is enough, wherever it stands (Kubernetes writes aws:///us-east-1a/i-0abc, bills
# an ARN or the id alone).
EC2 = re.compile(r"(?:^|[/:])(i-[0-9a-f]{8,17}|mi-[0-9a-f]{17})$")
# Compute Engine: gce://PROJECT/ZONE/NAME of Kubernetes, full resource names and URLs of the API and of
# bills. NAME may be the instance's number.
GCE = (
    re.compile(r"^gce://(?P<project>[^/]+)/(?P<zone>[^/]+)/(?P<name>[^/]+)$"),
    re.compile(
        r"(?:^|/)projects/(?P<project>[^/]+)/zones/(?P<zone>[^/]+)/instances/(?P<name>[^/]+)$"
    ),
)
# Azure: azure:///subscriptions/… of Kubernetes, and the same path in bills. A machine of a scale set
# is only a number in it, which is nobody's name.
AZURE = re.compile(
    r"(?P<path>/subscriptions/[^/]+/resourcegroups/[^/]+/providers/microsoft\.compute/"
    r"(?P<set>virtualmachinescalesets/[^/]+/)?virtualmachines/(?P<name>[^/]+))$"
)


def _ec2_keys(text: str) -> Spelled:
    id_match = EC2.search(text)
    return (id_match[1],) if id_match else ()


def _gce_keys(text: str) -> Spelled:
    for pattern in GCE:
        if id_match := pattern.search(text):
            place = f"gce://{id_match['project']}/{id_match['zone']}/{id_match['name']}"
            return place, id_match["name"]
    return ()


def _azure_keys(text: str) -> Spelled:
    id_match = AZURE.search(text)
    if id_match is None:
        return ()
    return (id_match["path"],) if id_match["set"] else (id_match["path"], id_match["name"])


SPELLINGS: dict[str, Callable[[str], Spelled]] = {
    "aws": _ec2_keys,
    "gcp": _gce_keys,
    "azure": _azure_keys,
}
"""Each cloud's reader of its own spellings: one that knows the text answers its keys."""


def machine_keys(text: str) -> Spelled:
    """Return the keys that a machine's id is known by, whoever spells it; empty of an empty text.

    Two ids mean one machine where they share a key, and the key means one machine. An id that no
    cloud is known to write is itself, then its last part.
    """
    plain = _plain(text)
    if not plain:
        return ()
    if keys := _keys_of_cloud(plain):
        return keys
    last = plain.rsplit("/", 1)[-1].rsplit(":", 1)[-1]
    return (plain,) if last in {plain, ""} else (plain, last)


def is_machine_id(text: str) -> bool:
    """Whether a cloud spells its machines' ids like this."""
    return bool(cloud_of_id(text))


def cloud_of_id(text: str) -> str:
    """The cloud that spells its machines' ids like this, by its name in SPELLINGS; else empty."""
    plain = _plain(text)
    return next((cloud for cloud, keys_of in SPELLINGS.items() if keys_of(plain)), "")


def _plain(text: str) -> str:
    return text.strip().rstrip("/").lower()


def _keys_of_cloud(plain: str) -> Spelled:
    return next((keys for keys_of in SPELLINGS.values() if (keys := keys_of(plain))), ())
