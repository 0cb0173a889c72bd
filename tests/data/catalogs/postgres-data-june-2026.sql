-- The data database as the builds up to June 2026 left it: no ledger, tokens of all accounts together.
CREATE TABLE stream_shards (
    shard_id text PRIMARY KEY,
    table_id text NOT NULL,
    parent_shard_id text,
    starting_sequence_number text NOT NULL,
    ending_sequence_number text,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX idx_stream_shards_table ON stream_shards (table_id);
CREATE TABLE stream_records (
    shard_id text NOT NULL REFERENCES stream_shards (shard_id) ON DELETE CASCADE,
    sequence_number text NOT NULL,
    table_id text NOT NULL,
    event_name text NOT NULL,
    record_data jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (shard_id, sequence_number)
);
CREATE INDEX idx_stream_records_created ON stream_records (created_at);
CREATE TABLE idempotency_tokens (
    token text PRIMARY KEY,
    fingerprint text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX idx_idempotency_tokens_created ON idempotency_tokens (created_at);
CREATE SEQUENCE stream_seq;
SELECT setval('stream_seq', (extract(epoch FROM now()) * 1000000)::bigint);
