"""Tokens that were made before each kind of fact had a scope of its own."""

from importlib import import_module

import pytest
from django.db import connection

from apps.accounts.models import AccessToken
from tests import make

pytestmark = pytest.mark.django_db
MIGRATION = import_module("apps.fleet.migrations.0011_tokens_by_fact")


def test_old_tokens_keep_what_was_theirs_and_an_agents_token_its_node_alone() -> None:
    make.make_organisation()
    agent, gateway = make.make_token("ingest"), make.make_token("ingest")
    both = make.make_token("ingest", "jobs", "read")
    jobs, reader = make.make_token("jobs"), make.make_token("read")
    make.make_agent(node_id=make.make_node(), token_id=agent.id)

    for _ in range(2):
        with connection.cursor() as cursor:
            cursor.execute(MIGRATION.SCOPES)

    scopes = dict(AccessToken.objects.values_list("id", "scopes"))
    assert scopes[agent.id] == ["ingest"]
    assert scopes[gateway.id] == ["ingest", "requests", "runs", "usage"]
    assert scopes[both.id] == ["ingest", "jobs", "read", "requests", "runs", "usage"]
    assert scopes[jobs.id] == ["jobs", "runs"]
    assert scopes[reader.id] == ["read"]
