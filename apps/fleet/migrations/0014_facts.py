"""What statements of other apps may know of what is owned or rented."""

from django.db import migrations

from apps.accounts.migrations._facts import publish

FACTS = {
    "fleet_cluster": ["id", "name"],
    "fleet_pool": [
        "id",
        "name",
        "provider",
        "region",
        "instance_type",
        "gpu_model",
        "unit",
        "purchase_option",
    ],
    "fleet_node": ["id", "pool_id", "name", "kind", "provider_id", "period"],
    "fleet_nodecapacity": ["id", "node_id", "units", "period"],
    "fleet_device": [
        "id",
        "node_id",
        "uuid",
        "kind",
        "parent_id",
        "model",
        "compute_slices",
        "period",
    ],
}


class Migration(migrations.Migration):
    dependencies = [("fleet", "0013_clouds_without_choices")]
    operations = [publish(table, columns) for table, columns in FACTS.items()]
