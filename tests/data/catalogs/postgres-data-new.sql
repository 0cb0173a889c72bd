-- What later builds add to the data database of June 2026: its ledger, pending index changes, tokens
-- by account, holds of vector indexes.
CREATE TABLE schema_history (
    filename text PRIMARY KEY,
    applied_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE gsi_pending (
    id bigserial PRIMARY KEY,
    table_id text NOT NULL,
    worker_partition integer NOT NULL,
    old_item jsonb,
    new_item jsonb,
    index_context jsonb NOT NULL,
    ready_at timestamptz NOT NULL
);
CREATE INDEX idx_gsi_pending_claim ON gsi_pending (worker_partition, ready_at, id);
DROP TABLE idempotency_tokens;
CREATE TABLE idempotency_tokens (
    account_id text NOT NULL,
    token text NOT NULL,
    fingerprint text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, token)
);
CREATE INDEX idx_idempotency_tokens_created ON idempotency_tokens (created_at);
CREATE TABLE vector_index_holds (
    table_id text NOT NULL,
    index_id text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (table_id, index_id)
);
CREATE INDEX idx_vector_index_holds_table ON vector_index_holds (table_id);
INSERT INTO schema_history (filename) VALUES ('001_data_schema.sql'), ('002_gsi_pending.sql'),
    ('003_idempotency_account_scope.sql'), ('003_gsi_base_key_index'), ('004_vector_index_state.sql');
