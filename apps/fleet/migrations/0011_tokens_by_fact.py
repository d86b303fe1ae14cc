"""Tokens keep what they did, as far as it was theirs to do.

`ingest` told of runs, requests and calls too. Whoever used it without an agent goes on with all
three; an agent's token tells of its node, and of nothing else. `jobs` told of runs.
"""

from django.db import migrations

SCOPES = """
UPDATE accounts_accesstoken AS token
SET scopes = ARRAY(
    SELECT DISTINCT scope FROM unnest(token.scopes || given.scopes) AS scope ORDER BY scope
)
FROM (
    SELECT id,
           CASE WHEN 'ingest' = ANY (scopes)
                     AND NOT EXISTS (SELECT FROM fleet_agent AS agent WHERE agent.token_id = one.id)
                THEN ARRAY['runs', 'requests', 'usage'] ELSE '{}'::text[] END
           || CASE WHEN 'jobs' = ANY (scopes) THEN ARRAY['runs'] ELSE '{}'::text[] END AS scopes
    FROM accounts_accesstoken AS one
    WHERE revoked_at IS NULL
) AS given
WHERE given.id = token.id AND NOT token.scopes @> given.scopes
"""


class Migration(migrations.Migration):
    dependencies = [("fleet", "0010_cores_are_settled"), ("accounts", "0008_scopes_by_fact")]
    operations = [migrations.RunSQL(SCOPES, migrations.RunSQL.noop)]
