"""Engines and gateways that tell of one service at the same moment."""

from datetime import timedelta
from threading import Barrier, Thread

import pytest
from django.db import connection

from apps.workloads.actions.requests import (
    CountedRequests,
    RequestTeller,
    join_requests,
    record_requests,
)
from apps.workloads.actions.workloads import add_workload
from apps.workloads.models import RequestDay
from tests import make
from tests.apps.ledger.scene import LATER, TEN

pytestmark = pytest.mark.django_db(transaction=True)
TELLERS, HOURS = 4, 6


def test_counters_that_tell_at_once_are_all_in_the_sum_of_the_day() -> None:
    make.make_organisation()
    team_id = make.make_team("Search")
    add_workload(name="answer-box", team_id=team_id, kind="serving")
    ready = Barrier(TELLERS + 1)

    def send(teller: int) -> None:
        rows = [
            CountedRequests(
                "engine", f"engine {teller}", service, TEN + timedelta(hours=hour), 1, requests=1
            )
            for hour in (range(HOURS) if teller % 2 else reversed(range(HOURS)))
            for service in ("answer-box", "chat")
        ]
        ready.wait()
        try:
            for row in rows:
                record_requests(counted=[row], teller=RequestTeller(), at=LATER)
        finally:
            connection.close()

    def join() -> None:
        ready.wait()
        try:
            for _ in range(HOURS):
                join_requests(at=LATER)
        finally:
            connection.close()

    add_workload(name="chat", team_id=team_id, kind="batch")
    threads = [Thread(target=send, args=(teller,)) for teller in range(TELLERS)]
    threads.append(Thread(target=join))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = RequestDay.objects.order_by("workload__name").values_list("workload__name", "requests")
    assert list(found) == [("answer-box", TELLERS * HOURS), ("chat", TELLERS * HOURS)]
