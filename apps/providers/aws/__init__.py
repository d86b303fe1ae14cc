"""Amazon Web Services: prices, what was bought ahead, limits, machines and bills."""

from apps.providers.cloud import AccountOption, CloudProvider

CLOUD = CloudProvider(
    key="aws",
    label="AWS",
    permissions={
        "spot_prices": ("ec2:DescribeSpotPriceHistory",),
        "on_demand_prices": ("pricing:GetProducts",),
        "reserved_instances": ("ec2:DescribeReservedInstances",),
        "savings_plans": (
            "savingsplans:DescribeSavingsPlans",
            "savingsplans:DescribeSavingsPlanRates",
        ),
        "reservations": ("ec2:DescribeCapacityReservations", "pricing:GetProducts"),
        "quotas": ("servicequotas:ListServiceQuotas",),
        "machines": ("ec2:DescribeInstances",),
        "bills": ("s3:ListBucket", "s3:GetObject"),
    },
    account_example="123456789012",
    region_example="us-east-1",
    credentials="Give the worker a role, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and "
    "restart it",
    options={
        "role_arn": AccountOption(
            example="arn:aws:iam::123456789012:role/runrate",
            pattern=r"arn:aws[a-z-]*:iam::\d{12}:role/[\w+=,.@/-]+",
        ),
        "export_uri": AccountOption(
            example="s3://bucket/prefix/name-of-the-export",
            pattern=r"s3://[a-z0-9.-]{3,63}/([^/\s]+/)*[^/\s]+",
        ),
        "export_region": AccountOption(example="us-east-1"),
    },
)
