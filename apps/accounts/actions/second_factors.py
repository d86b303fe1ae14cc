"""The sealed secrets of second factors, apart from signing in: a command that seals them anew loads no pages."""

from allauth.mfa.models import Authenticator
from django.db import transaction

from apps.accounts.queries.sealed import opened_secret, sealed_secret

SECOND_FACTORS = "second factors"
SEALED_DATA = ("secret", "seed")
"""What of a second factor is sealed."""


@transaction.atomic
def reseal_second_factors() -> tuple[int, int]:
    """Seal each with the present key: how many were, and how many no key opens."""
    done = lost = 0
    for factor in Authenticator.objects.select_for_update().order_by("pk"):
        opened = {
            name: opened_secret(factor.data[name], SECOND_FACTORS)
            for name in SEALED_DATA
            if name in factor.data
        }
        if None in opened.values():
            lost += 1
            continue
        factor.data |= {
            name: sealed_secret(text or "", SECOND_FACTORS) for name, text in opened.items()
        }
        factor.save(update_fields=["data"])
        done += 1
    return done, lost
