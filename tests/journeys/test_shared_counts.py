"""What is counted holds for all web processes together, exactly, and only for its time."""

import threading

import pytest
from django.core.cache import cache, caches
from django.db import connection

pytestmark = pytest.mark.django_db


def test_what_one_process_keeps_another_finds_until_its_time_is_over() -> None:
    cache.set("who", [1.5, "ada"], timeout=60)
    assert cache.get("who") == [1.5, "ada"]
    assert cache.delete("who")
    assert not cache.delete("who")
    cache.set("brief", 1, timeout=0)
    assert cache.get("brief", "over") == "over"


def test_only_the_first_adds_and_a_later_one_when_its_time_is_over() -> None:
    assert cache.add("lock", value=True, timeout=60)
    assert not cache.add("lock", value=True, timeout=60)
    assert cache.touch("lock", timeout=0)
    assert cache.add("lock", value=True, timeout=60)


def test_counting_what_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing"):
        cache.incr("nothing")


def test_what_is_over_is_swept_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("controlplane.shared_cache.secrets.randbelow", lambda most: 0)
    cache.set("old", 1, timeout=0)
    cache.set("for-good", 1, timeout=None)
    cache.add("new", 1, timeout=60)
    with connection.cursor() as cursor:
        cursor.execute("SELECT array_agg(key ORDER BY key) FROM shared_cache")
        assert cursor.fetchone()[0] == [":1:for-good", ":1:new"]


@pytest.mark.django_db(transaction=True)
def test_twenty_at_once_are_twenty() -> None:
    cache.clear()
    cache.set("asked", 0, timeout=60)

    def count() -> None:
        for _ in range(5):
            cache.incr("asked")
        connection.close()

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert cache.get("asked") == 20
    cache.clear()


def test_a_count_lies_in_no_log_of_the_database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT relpersistence FROM pg_class WHERE relname = 'shared_cache'")
        assert cursor.fetchone()[0] == "u"


def test_what_one_process_may_know_alone_asks_no_database(django_assert_num_queries) -> None:
    with django_assert_num_queries(0):
        caches["process"].set("seen", 1)
        assert caches["process"].get("seen") == 1
