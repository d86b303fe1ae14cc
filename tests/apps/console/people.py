"""People who open pages: Petra manages, Finn reads all, Dee leads another team, Vera has none."""

import csv
import html
import io
import re
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.test import Client

from apps.accounts import actions as accounts
from tests import make

PASSWORD = "correct horse battery"


def signed_in(role: str, *team_ids: int) -> Client:
    """The browser of a new person of this role, a member of these teams."""
    email = f"{role}@example.org"
    person_id = make.make_person(email, name=role.title(), role=role, password=PASSWORD)
    if team_ids:
        accounts.place_in_teams(person_id=person_id, team_ids=team_ids)
    client = Client()
    person = get_user_model().objects.get(id=person_id)
    client.force_login(person, backend=settings.AUTHENTICATION_BACKENDS[0])
    return client


def client_of(name: str = "petra", **given: Any) -> Client:
    """The browser of somebody who is there, after they signed in."""
    client = Client(**given)
    client.force_login(get_user_model().objects.get(email=f"{name}@example.org"))
    return client


def text_of(markup: str) -> str:
    """What is read of it, with single spaces."""
    words = html.unescape(re.sub(r"<[^>]+>", " ", markup))
    return re.sub(r"\s+", " ", words.replace("\N{NO-BREAK SPACE}", " ")).strip()


def words_of(answer: Any) -> str:
    """What people read of an answer, without what is drawn."""
    markup = answer.content.decode()
    return text_of(re.sub(r"<(script|style).*?</\1>", " ", markup, flags=re.DOTALL))


def csv_rows(answer: Any) -> list[dict[str, str]]:
    """The rows of a CSV, by its headings."""
    return list(csv.DictReader(io.StringIO(answer.content.decode())))


def confirmed(client: Client, path: str, entered: Mapping[str, Any], **given: Any) -> Any:
    """What comes of a change that was looked at and then confirmed; of one that cannot be, why."""
    looked = client.get(path, entered).content.decode()
    seen = re.findall(r'name="seen" value="(\w+)"', looked)
    return client.post(path, {**entered, **({"seen": seen[0]} if seen else {})}, **given)
