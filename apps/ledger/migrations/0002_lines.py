"""Lines, partitioned by posting month, in plain SQL."""

from django.db import migrations

LINE = """
CREATE SEQUENCE ledger_line_id;
CREATE TABLE ledger_line (
    id bigint NOT NULL DEFAULT nextval('ledger_line_id'),
    charge_id bigint NOT NULL REFERENCES ledger_charge (id),
    settlement_id bigint REFERENCES ledger_settlement (id),
    hour timestamptz NOT NULL,
    team_id bigint NOT NULL REFERENCES accounts_team (id),
    pool_id bigint REFERENCES fleet_pool (id),
    workload_id bigint REFERENCES workloads_workload (id),
    job_id bigint REFERENCES workloads_job (id),
    unit_milliseconds bigint NOT NULL,
    list_micros bigint,
    contracted_micros bigint,
    effective_micros bigint,
    billed_micros bigint,
    posting_month date NOT NULL,
    holder_key_id integer REFERENCES telemetry_holderkey (id),
    policy_version integer,
    state smallint CHECK (state BETWEEN 1 AND 6),
    flags smallint NOT NULL,
    evidence smallint NOT NULL,
    CHECK (job_id IS NULL OR holder_key_id IS NULL),
    UNIQUE NULLS NOT DISTINCT
        (posting_month, settlement_id, charge_id, job_id, holder_key_id, team_id, workload_id,
         pool_id, state, flags)
) PARTITION BY RANGE (posting_month);
CREATE INDEX ledger_line_by_charge ON ledger_line (charge_id);
CREATE INDEX ledger_line_by_hour ON ledger_line (hour, pool_id);
"""


class Migration(migrations.Migration):
    dependencies = [
        ("ledger", "0001_initial"),
        ("telemetry", "0002_partitioned_tables"),
        ("workloads", "0001_initial"),
    ]

    operations = [
        migrations.RunSQL(
            sql=LINE, reverse_sql="DROP TABLE ledger_line; DROP SEQUENCE ledger_line_id"
        )
    ]
