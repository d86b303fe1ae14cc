"""A bucket that is really asked over HTTP: moto as a server of its own."""

import contextlib
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator

import boto3

from tests.databases import wait_until
from tests.journeys.test_processes import free_port

KEYS = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "us-east-1",
}


@contextlib.contextmanager
def served_buckets() -> Iterator[dict[str, str]]:
    """Serve S3; give the environment by which boto3 and s3fs find it."""
    port = free_port()
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        env=kept | KEYS,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    found = KEYS | {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"}

    def answers() -> bool:
        with contextlib.suppress(Exception):
            client_of(found).list_buckets()
            return True
        return False

    try:
        wait_until(answers)
        yield found
    finally:
        server.terminate()
        server.wait(30)


def client_of(served: dict[str, str]):
    """A client of boto3 for a served S3."""
    return boto3.client(
        "s3",
        endpoint_url=served["AWS_ENDPOINT_URL"],
        region_name="us-east-1",
        aws_access_key_id="testing",
        aws_secret_access_key="testing",
    )


def new_bucket(served: dict[str, str]) -> str:
    """The name of an empty bucket."""
    name = f"runrate-{secrets.token_hex(4)}"
    client_of(served).create_bucket(Bucket=name)
    return name
