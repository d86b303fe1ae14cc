"""Quotes that were kept say which pools they offer; those that no job took yet have it from their answers."""

import django.contrib.postgres.fields
from django.contrib.postgres.indexes import GinIndex
from django.db import migrations, models

from apps.accounts.migrations._together import ChangedTogether

FROM_ANSWERS = """
UPDATE placement_jobquote SET pool_ids = found.ids, pool_offers = found.offers
FROM (
    SELECT quote.id, array_agg(substr(offer->>'key', 6)::bigint ORDER BY place) AS ids,
        jsonb_agg(jsonb_build_object('pool_id', substr(offer->>'key', 6)::bigint, 'place', place - 1,
            'charged_micros', offer->'charged_micros') ORDER BY place) AS offers
    FROM placement_jobquote AS quote,
        jsonb_array_elements(quote.answer->'offers') WITH ORDINALITY AS one (offer, place)
    WHERE quote.chosen = '' AND offer->>'key' LIKE 'pool:%'
    GROUP BY quote.id
) AS found
WHERE found.id = placement_jobquote.id
"""


class Migration(migrations.Migration):
    dependencies = [("placement", "0008_fleet_moves")]

    operations = [
        ChangedTogether(
            migrations.AddField(
                model_name="jobquote",
                name="pool_ids",
                field=django.contrib.postgres.fields.ArrayField(
                    base_field=models.BigIntegerField(), default=list, size=None
                ),
            ),
            migrations.AddField(
                model_name="jobquote",
                name="pool_offers",
                field=models.JSONField(default=list),
            ),
        ),
        migrations.RunSQL(FROM_ANSWERS, migrations.RunSQL.noop),
        migrations.AddIndex(
            model_name="jobquote",
            index=GinIndex(
                condition=models.Q(("chosen", "")), fields=["pool_ids"], name="quote_open_by_pool"
            ),
        ),
    ]
