"""Models of Amazon Bedrock by the many names that a call may have for one, and what is not paid by the token."""

import re

ARN = re.compile(
    r"^arn:aws[\w-]*:bedrock:[\w-]*:\d*:(?P<kind>[\w-]+)/(?P<name>[^/]+)(?:/.*)?$", re.IGNORECASE
)
NAMING = frozenset({"foundation-model", "inference-profile"})
"""Kinds of ARN whose name is the model's own, with the region of a profile before it."""

BY_THE_HOUR = {
    "provisioned-model": "provisioned throughput",
    "provisioned-model-arn": "provisioned throughput",
}
HOURLY_TIERS = frozenset(
    {
        *("provisioned", "provisioned_throughput", "provisioned-throughput", "provisionedmanaged"),
        *("provisioned-managed", "ptu", "on_demand_provisioned", "globalprovisionedmanaged"),
    }
)
"""Tiers of Azure (PTU), Vertex AI and Bedrock that are paid by the hour, whatever is called."""


def model_of_arn(model: str) -> str:
    """Return the model that a Bedrock ARN names; what is no such ARN as it is."""
    arn_match = ARN.match(model)
    return arn_match["name"] if arn_match and arn_match["kind"].lower() in NAMING else model


def unpriced_reason(model: str, tier: str) -> str:
    """Return why a call to this model has no price of its tokens; empty where it may have one."""
    if tier.lower() in HOURLY_TIERS:
        return f"{model} in the tier {tier!r} is provisioned throughput (PTU): paid by the hour, not by the token"
    arn_match = ARN.match(model)
    if arn_match is None:
        return ""
    kind = arn_match["kind"].lower()
    if kind in BY_THE_HOUR:
        return f"{arn_match['name']} is provisioned throughput: paid by the hour, not by the token"
    if kind not in NAMING:
        return (
            f"{kind} {arn_match['name']} does not say which model it calls: send the model, or enter a "
            "contract price for this name"
        )
    return ""
