"""Two that tell of the same job at the same moment."""

from threading import Barrier, Thread

import pytest
from django.db import connection

from apps.workloads.actions.recording import Recorded
from apps.workloads.models import Job, JobEvent
from tests.apps.workloads.told import tell
from tests.economics.job_statements import on, said

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_same_event_twice_at_once_is_kept_once():
    ready = Barrier(4)
    answers: list[Recorded] = []

    def send() -> None:
        ready.wait()
        try:
            answers.extend(tell("4711", said("start", 0, allocations=(on("gpu-01"),))))
        finally:
            connection.close()

    threads = [Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(each.is_changed for each in answers) == [False, False, False, True]
    assert len({each.job_id for each in answers}) == 1
    assert (Job.objects.count(), JobEvent.objects.count()) == (1, 1)


def test_start_and_end_at_once_make_one_whole_job():
    ready = Barrier(2)

    def send(kind: str, minutes: int) -> None:
        ready.wait()
        try:
            tell("4711", said(kind, minutes, run="r1"))
        finally:
            connection.close()

    threads = [Thread(target=send, args=told) for told in (("start", 0), ("end", 30))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    job = Job.objects.get()
    assert job.started_at is not None
    assert job.ended_at is not None
