"""AWS as every reader of it needs it: who asks, and its refusals in words."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    PartialCredentialsError,
    ReadTimeoutError,
)

from apps.providers.cloud import CloudFault, CloudRefused
from apps.providers.reading import CloudAccess

ATTEMPTS = 5
CONFIG = Config(
    # Adaptive: after a refusal for haste the client itself asks less often, and waits longer.
    retries={"mode": "adaptive", "total_max_attempts": ATTEMPTS},
    connect_timeout=10,
    read_timeout=60,
    user_agent_extra="runrate",
)
PERMISSIONS = {
    "AssumeRole": "sts:AssumeRole",
    "DescribeCapacityReservations": "ec2:DescribeCapacityReservations",
    "DescribeInstances": "ec2:DescribeInstances",
    "DescribeReservedInstances": "ec2:DescribeReservedInstances",
    "DescribeSavingsPlanRates": "savingsplans:DescribeSavingsPlanRates",
    "DescribeSavingsPlans": "savingsplans:DescribeSavingsPlans",
    "DescribeSpotPriceHistory": "ec2:DescribeSpotPriceHistory",
    "GetProducts": "pricing:GetProducts",
    "HeadObject": "s3:GetObject",
    "GetObject": "s3:GetObject",
    "ListObjectsV2": "s3:ListBucket",
    "ListServiceQuotas": "servicequotas:ListServiceQuotas",
}
DENIED = {"UnauthorizedOperation", "AccessDenied", "AccessDeniedException", "403", "Forbidden"}
TOO_FAST = {
    *("Throttling", "ThrottlingException", "RequestLimitExceeded", "TooManyRequestsException"),
    *("SlowDown", "RequestThrottled", "ThrottledException", "BandwidthLimitExceeded"),
}
BAD_KEYS = {
    *("ExpiredToken", "ExpiredTokenException", "InvalidClientTokenId", "AuthFailure"),
    *("UnrecognizedClientException", "InvalidAccessKeyId", "SignatureDoesNotMatch"),
}
NO_KEYS = (
    "no AWS credentials were found: give the worker a role, or set AWS_ACCESS_KEY_ID and"
    " AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
)


def session(role_arn: str = "", external_id: str = "") -> boto3.Session:
    """Whoever the ordinary chain of credentials says, or the role it may take. Keeps no key.

    A role is taken with an `external_id` where its trust policy asks for one.

    Refuses CloudRefused where that role may not be taken.
    """
    default_session = boto3.Session()
    if not role_arn:
        return default_session
    with in_words():
        token = default_session.client("sts", region_name="us-east-1", config=CONFIG)
        options = {"ExternalId": external_id} if external_id else {}
        taken: Any = token.assume_role(RoleArn=role_arn, RoleSessionName="runrate", **options)
        keys = taken["Credentials"]
    return boto3.Session(
        aws_access_key_id=keys["AccessKeyId"],
        aws_secret_access_key=keys["SecretAccessKey"],
        aws_session_token=keys["SessionToken"],
    )


def session_of(account: CloudAccess) -> boto3.Session:
    """As whom an account is read. Refuses CloudRefused."""
    return session(account.role_arn, account.external_id)


@contextmanager
def in_words() -> Iterator[None]:
    """Raise CloudRefused for what AWS refuses inside, and for an answer without what was asked."""
    try:
        yield
    except ClientError as refused:
        raise _refusal_of(refused) from refused
    except (NoCredentialsError, PartialCredentialsError) as missing:
        raise CloudRefused(NO_KEYS, CloudFault.CREDENTIALS) from missing
    except (EndpointConnectionError, ConnectTimeoutError, ReadTimeoutError) as away:
        raise CloudRefused(f"AWS cannot be reached: {away}") from away
    except BotoCoreError as broken:
        raise CloudRefused(f"AWS: {broken}") from broken
    except KeyError as absent:
        # What an answer lacks is unknown: neither nothing nor a reason to end in a traceback.
        raise CloudRefused(f"AWS answered without {absent}: nothing is known by it") from absent


def _refusal_of(refused: ClientError) -> CloudRefused:
    error = refused.response.get("Error", {})
    code, message = error.get("Code", ""), error.get("Message", "")
    operation = refused.operation_name
    if code in DENIED:
        needed = PERMISSIONS.get(operation, operation)
        return CloudRefused(
            f"AWS denies {needed}: the role or user that asks needs this permission ({message})",
            CloudFault.DENIED,
        )
    if code in TOO_FAST:
        return CloudRefused(
            f"AWS asks to slow down and was asked {ATTEMPTS} times; the next sync goes on here",
            CloudFault.RATE_LIMITED,
        )
    if code in BAD_KEYS:
        words = f"AWS does not accept the keys: {message or code}"
        return CloudRefused(words, CloudFault.CREDENTIALS)
    return CloudRefused(f"AWS refuses {operation}: {code} {message}".strip())
