-- What ingest is measured against: a plain COPY into this table. The columns of a window as they
-- are documented, one index, logged, no partitions, no foreign keys.
CREATE TABLE reference_window (
    starts_at timestamptz NOT NULL,
    boot bigint NOT NULL,
    memory_used_bytes bigint,
    device_id integer NOT NULL,
    holder_id integer NOT NULL,
    agent_id integer NOT NULL,
    length_ms integer NOT NULL,
    observed_seconds real NOT NULL,
    worked_seconds real,
    sm_ratio real,
    tensor_ratio real,
    dram_ratio real,
    energy_joules real,
    source smallint NOT NULL,
    flags smallint NOT NULL
);
CREATE INDEX reference_window_device_starts_at ON reference_window (device_id, starts_at);
