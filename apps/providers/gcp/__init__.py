"""Google Cloud: prices, committed use, limits, reservations and machines."""

from apps.providers.cloud import CloudProvider

CLOUD = CloudProvider(
    key="gcp",
    label="Google Cloud",
    permissions={
        "spot_prices": ("compute.machineTypes.list",),
        "on_demand_prices": ("compute.machineTypes.list",),
        "committed_use": ("compute.commitments.list",),
        "reservations": ("compute.reservations.list",),
        "quotas": ("compute.regions.get",),
        "machines": ("compute.instances.list",),
    },
    account_example="acme-research",
    region_example="us-central1",
    credentials="Give the worker a service account, or GOOGLE_APPLICATION_CREDENTIALS, and "
    "restart it",
)
