"""Hours of pools measured in cores are settled again: their jobs now carry what they held."""

from django.db import migrations

# 3 is the split pass; the range becomes marks of hours as any other does.
MARK = """
INSERT INTO fleet_changedrange (pass_id, unit, starts_at, ends_at, revision)
SELECT 3, node.id, date_trunc('hour', lower(node.period)), least(upper(node.period), now()),
       nextval('fleet_revision')
FROM fleet_node AS node JOIN fleet_pool AS pool ON pool.id = node.pool_id
WHERE pool.unit = 'core' AND date_trunc('hour', lower(node.period)) < least(upper(node.period), now())
"""


class Migration(migrations.Migration):
    dependencies = [("fleet", "0009_cores_carry_cost")]
    operations = [migrations.RunSQL(MARK, migrations.RunSQL.noop)]
