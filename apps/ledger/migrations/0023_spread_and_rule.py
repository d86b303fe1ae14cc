"""How a cost was spread and by which rule a row went, as columns instead of words."""

from django.db import migrations, models

from apps.accounts.migrations._together import ChangedTogether


class Migration(migrations.Migration):
    dependencies = [("ledger", "0022_billed_with_nodes")]

    operations = [
        ChangedTogether(
            migrations.AddField(
                model_name="charge",
                name="spread_method",
                field=models.TextField(blank=True, db_default="", default=""),
            ),
            migrations.AddField(
                model_name="billedmatch",
                name="rule_id",
                field=models.BigIntegerField(null=True),
            ),
        ),
        # What the words say by now.
        migrations.RunSQL(
            [
                "UPDATE ledger_charge SET spread_method = substr(reason, 8)"
                " WHERE kind = 'shared' AND starts_with(reason, 'spread ')",
                "UPDATE ledger_billedmatch SET rule_id = substr(matched_by, 6)::int8"
                " WHERE matched_by ~ '^rule [0-9]+$'",
            ],
            migrations.RunSQL.noop,
        ),
    ]
