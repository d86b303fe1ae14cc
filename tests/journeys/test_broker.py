"""Messages as files: whole or not there, each to one worker, and a spoilt one harms nobody."""

import json
import logging
import shutil
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import Empty

import kombu
import pytest
import redis
from kombu.simple import SimpleQueue

from controlplane.broker import SCHEME, SPOILT
from controlplane.redis_broker import COUNT_KEY, KEPT_KEY
from tests.journeys.test_queues import redis_server

QUEUE = "runrate"
OLD = "0" * 20


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "broker"


@pytest.fixture
def queue(folder: Path) -> Iterator[SimpleQueue]:
    folder.mkdir(mode=0o700)
    with opened(folder) as connection, connection.SimpleQueue(QUEUE) as queue:
        yield queue


def opened(folder: Path) -> kombu.Connection:
    options = {"data_folder_in": str(folder), "data_folder_out": str(folder)}
    return kombu.Connection(f"{SCHEME}://", transport_options=options)


def taken(queue: SimpleQueue) -> object:
    message = queue.get(block=False)
    message.ack()
    return message.payload


def test_messages_come_in_the_order_in_which_they_were_sent_and_leave_nothing(queue, folder):
    for number in range(3):
        queue.put({"number": number})
    assert [taken(queue)["number"] for _ in range(3)] == [0, 1, 2]
    with pytest.raises(Empty):
        queue.get(block=False)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    "spoilt",
    ["", '{"body": "e30', "[]", "7", "{}", '{"body": "!", "properties": {}}', "\x00", '"half"'],
)
def test_a_spoilt_message_is_set_aside_and_the_next_one_read(queue, folder, spoilt, caplog):
    (folder / f"{OLD}_half.{QUEUE}.msg").write_text(spoilt)
    (folder / f"{OLD}_nonsense.{QUEUE}.msg").write_bytes(b"\xff\xfe")
    queue.put({"good": True})
    with caplog.at_level(logging.WARNING):
        assert taken(queue) == {"good": True}
    assert sorted(each.name for each in (folder / SPOILT).iterdir()) == [
        f"{OLD}_half.{QUEUE}.msg",
        f"{OLD}_nonsense.{QUEUE}.msg",
    ]
    assert caplog.text.count("message_unreadable") == 2


def test_a_folder_that_was_taken_away_is_made_again_for_its_owner_alone(queue, folder):
    shutil.rmtree(folder)
    with pytest.raises(Empty):
        queue.get(block=False)
    shutil.rmtree(folder)
    queue.put({"good": True})
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert taken(queue) == {"good": True}


def test_readers_never_see_half_a_message_and_each_message_has_one_reader(queue, folder):
    got: list[int] = []
    sent = threading.Event()

    def read() -> None:
        with opened(folder) as connection, connection.SimpleQueue(QUEUE) as mine:
            while True:
                is_over = sent.is_set()
                try:
                    got.append(taken(mine)["number"])
                except Empty:
                    if is_over:
                        return

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for number in range(200):
        queue.put({"number": number, "long": "x" * 20_000})
    sent.set()
    for reader in readers:
        reader.join()
    assert sorted(got) == list(range(200))
    assert not (folder / SPOILT).exists()


def test_a_message_in_redis_that_is_none_is_counted_and_the_next_one_read(caplog) -> None:
    not_a_message = [json.dumps(["a secret"]), '{"a secret": 1}', '"a secret"']
    typed = '{"__type__": "a secret", "__value__": "a secret"}'
    cut = ['{"body": "a secret', b"\xff a secret"]
    spoilt: list[str | bytes] = [*cut, "[" * 200_000, *not_a_message, typed, "{}", "7"]
    with (
        redis_server() as url,
        kombu.Connection(url) as connection,
        connection.SimpleQueue(QUEUE) as queue,
    ):
        client = redis.Redis.from_url(url)
        for message in spoilt:
            client.lpush(QUEUE, message)
        queue.put({"good": True})
        with caplog.at_level(logging.WARNING):
            message = queue.get(timeout=10)
        message.ack()
        assert message.payload == {"good": True}
        assert client.llen(QUEUE) == 0
        assert int(client.get(COUNT_KEY)) == len(spoilt)
        told = [line.decode() for line in client.lrange(KEPT_KEY, 0, -1)]
    assert len(told) == len(spoilt)
    assert told[-1] == "18 bytes JSONDecodeError"
    # Neither in the words of the message nor in those of an error.
    assert not [line for line in told if "secret" in line]
    assert "secret" not in caplog.text
    assert caplog.text.count("message_unreadable") == len(spoilt)
