from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ledger", "0011_charges_of_calls")]

    operations = [
        migrations.AddField("runday", "tensor_seconds", models.FloatField(null=True)),
        migrations.AddField("runday", "tensor_observed_seconds", models.FloatField(null=True)),
        migrations.AddField("runfigures", "folded_at", models.DateTimeField(null=True)),
    ]
