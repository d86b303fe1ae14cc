"""A Bedrock model has many names, and some calls are paid by the hour."""

import pytest

from apps.economics.model_names import model_of_arn, unpriced_reason

ARN = "arn:aws:bedrock:us-east-1:123456789012:"


@pytest.mark.parametrize(
    ("name", "model"),
    [
        (
            "arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-pro-v1:0",
            "amazon.nova-pro-v1:0",
        ),
        (f"{ARN}inference-profile/us.amazon.nova-pro-v1:0", "us.amazon.nova-pro-v1:0"),
        ("arn:aws-us-gov:bedrock:us-gov-west-1::foundation-model/a.b", "a.b"),
        ("amazon.nova-pro-v1:0", "amazon.nova-pro-v1:0"),
        (f"{ARN}application-inference-profile/x1", f"{ARN}application-inference-profile/x1"),
    ],
)
def test_an_arn_is_its_model(name: str, model: str) -> None:
    assert model_of_arn(name) == model


@pytest.mark.parametrize(
    ("model", "tier", "words"),
    [
        (f"{ARN}provisioned-model/abc", "", "paid by the hour"),
        ("gpt-4.1", "ptu", "PTU"),
        ("gemini-2.5-pro", "PROVISIONED_THROUGHPUT", "paid by the hour"),
        (f"{ARN}application-inference-profile/x1", "", "does not say which model"),
    ],
)
def test_what_is_not_paid_by_the_token_says_so(model: str, tier: str, words: str) -> None:
    assert words in unpriced_reason(model, tier)


def test_an_ordinary_call_may_have_a_price() -> None:
    assert unpriced_reason("gpt-4.1", "flex") == ""
    assert unpriced_reason("arn:aws:bedrock:us-east-1::foundation-model/a.b", "") == ""
