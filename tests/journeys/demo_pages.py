"""The walk through the demo's console: one page of each kind, and what is empty on it.

Run within the demo's own installation: `manage.py shell -c "from tests.journeys.demo_pages import tell; tell()"`.
"""

import json
import re

from django.conf import settings
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import Resolver404, resolve, reverse

from controlplane.demo.database import SIGN_IN

FIRST = (
    *("overview", "costs", "bills", "shared-costs", "months", "fleet", "incidents", "agents"),
    *("prices", "clouds", "commitments", "owned-hardware", "ownership", "runs", "services"),
    *("api-spend", "team-work", "findings", "setup"),
)
"""The entries of the navigation; their links lead on."""
EMPTY = re.compile(r'class="card empty">\s*<h2>(.*?)</h2>', re.DOTALL)
LINK = re.compile(r'<a[^>]* href="(/[^"#]*)"')
NOT_PAGES = re.compile(r"csv|download|/new$|/end$|/change|/sign-out|/account/")


def walk() -> dict[str, tuple[int, list[str]]]:
    """By address: its status, and the titles of what is empty there. One address of each name."""
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "testserver"]
    client = Client()
    person = get_user_model().objects.get(email=SIGN_IN)
    client.force_login(person, backend=settings.AUTHENTICATION_BACKENDS[0])
    waiting, names, found = [reverse(name) for name in FIRST], set(), {}
    while waiting:
        address = waiting.pop(0)
        name = _name_of(address)
        if name is None or name in names:
            continue
        names.add(name)
        answer = client.get(address, follow=True)
        if "html" not in answer.headers.get("Content-Type", ""):
            continue
        text = answer.content.decode()
        found[address] = (answer.status_code, EMPTY.findall(text))
        waiting += [link.replace("&amp;", "&") for link in LINK.findall(text)]
    return found


def _name_of(address: str) -> str | None:
    path = address.partition("?")[0]
    if NOT_PAGES.search(path):
        return None
    try:
        return resolve(path).view_name
    except Resolver404:
        return None


def tell() -> None:
    """As one line of JSON."""
    print(json.dumps(walk()))
