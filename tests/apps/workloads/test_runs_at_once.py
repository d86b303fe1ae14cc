"""Runs that are opened and forgotten by several at the same moment."""

from collections.abc import Callable
from threading import Thread
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction

from apps.workloads.actions.run_names import NamedRun, forget_empty_runs, open_runs
from apps.workloads.models import Run
from tests.make import NOON

pytestmark = pytest.mark.django_db(transaction=True)


def elsewhere(act: Callable[[], object]) -> None:
    """Do it in another connection, which gives up soon where it would have to wait."""

    def work() -> None:
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("SET LOCAL lock_timeout = '200ms'")
                act()
        except OperationalError:
            pass
        finally:
            connection.close()

    thread = Thread(target=work)
    thread.start()
    thread.join()


def test_a_run_that_another_opens_and_forgets_meanwhile_is_opened_all_the_same() -> None:
    def meanwhile(execute: Callable[..., Any], sql: str, *given: Any) -> Any:
        if "INSERT INTO workloads_run " not in sql:
            return execute(sql, *given)
        elsewhere(lambda: Run.objects.create(key="nightly"))
        answer = execute(sql, *given)
        elsewhere(lambda: forget_empty_runs(Run.objects.values_list("id", flat=True)))
        return answer

    named = NamedRun("nightly")
    with transaction.atomic(), connection.execute_wrapper(meanwhile):
        found = open_runs([named], NOON)
    assert found == {named: Run.objects.get().id}
