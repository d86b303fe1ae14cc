"""The far ends of clouds on loopback, for every test of what is read from them."""

import pytest
from google.auth.credentials import AnonymousCredentials

from apps.providers.gcp import access
from tests.apps.pricing import fake_google
from tests.apps.pricing.fake_aws import FakeAws, serving


@pytest.fixture
def aws(aws_models, monkeypatch, tmp_path):
    """The far end, keys that open nothing, and no other way to find any."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    with serving(FakeAws()) as fake:
        monkeypatch.setenv("AWS_ENDPOINT_URL", fake.url)
        yield fake


@pytest.fixture
def google(monkeypatch):
    """The far end, asked by nobody in particular."""
    with fake_google.serving(fake_google.FakeGoogle()) as fake:
        anybody = access.GoogleAccess(AnonymousCredentials(), fake.url)
        monkeypatch.setattr(access, "default_access", lambda: anybody)
        yield fake
