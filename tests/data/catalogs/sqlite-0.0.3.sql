-- Catalog 0.0.3 on SQLite as a server of that version made it: test data, never changed.
CREATE TABLE access_keys (
    access_key_id TEXT,
    secret_key_encrypted BLOB NOT NULL,
    account_id TEXT NOT NULL,
    user_name TEXT NOT NULL,
    is_active INTEGER NOT NULL DEFAULT 1,
    created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')),
    PRIMARY KEY (access_key_id),
    FOREIGN KEY (account_id, user_name) REFERENCES iam_users (account_id, user_name) ON DELETE CASCADE
);
CREATE TABLE accounts (
    account_id TEXT,
    account_name TEXT NOT NULL,
    created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')),
    PRIMARY KEY (account_id),
    UNIQUE (account_name)
);
CREATE TABLE admin_users (
    admin_name TEXT,
    password_hash TEXT NOT NULL,
    created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')),
    PRIMARY KEY (admin_name)
);
CREATE TABLE backup_items (
    backup_arn TEXT NOT NULL,
    pk TEXT NOT NULL,
    sk TEXT,
    item_data TEXT NOT NULL,
    FOREIGN KEY (backup_arn) REFERENCES backups (backup_arn) ON DELETE CASCADE
);
CREATE TABLE backups (
    backup_arn TEXT,
    backup_name TEXT NOT NULL,
    table_id TEXT NOT NULL,
    table_name TEXT NOT NULL,
    account_id TEXT NOT NULL,
    backup_status TEXT NOT NULL DEFAULT 'AVAILABLE',
    backup_type TEXT NOT NULL DEFAULT 'USER',
    backup_size_bytes INTEGER NOT NULL DEFAULT 0,
    item_count INTEGER NOT NULL DEFAULT 0,
    key_schema TEXT NOT NULL,
    attribute_definitions TEXT NOT NULL,
    billing_mode TEXT NOT NULL DEFAULT 'PAY_PER_REQUEST',
    provisioned_throughput TEXT,
    stream_specification TEXT,
    created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')),
    PRIMARY KEY (backup_arn)
);
CREATE TABLE continuous_backups (
    account_id TEXT NOT NULL,
    table_name TEXT NOT NULL,
    pitr_enabled INTEGER NOT NULL DEFAULT 0,
    earliest_restorable TEXT,
    latest_restorable TEXT,
    PRIMARY KEY (account_id, table_name)
);
CREATE TABLE gsi_pending (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    table_id TEXT NOT NULL,
    worker_partition INTEGER NOT NULL,
    old_item TEXT,
    new_item TEXT,
    index_context TEXT NOT NULL,
    ready_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now'))
);
CREATE TABLE iam_group_members (
    account_id TEXT NOT NULL,
    group_name TEXT NOT NULL,
    user_name TEXT NOT NULL,
    PRIMARY KEY (account_id, group_name, user_name),
    FOREIGN KEY (account_id, group_name) REFERENCES iam_groups (account_id, group_name) ON DELETE CASCADE,
    FOREIGN KEY (account_id, user_name) REFERENCES iam_users (account_id, user_name) ON DELETE CASCADE
);
CREATE TABLE iam_groups (
    account_id TEXT NOT NULL,
    group_name TEXT NOT NULL,
    group_arn TEXT NOT NULL,
    created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')),
    PRIMARY KEY (account_id, group_name),
    UNIQUE (group_arn),
    FOREIGN KEY (account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE iam_permissions_boundaries (
    account_id TEXT NOT NULL,
    principal_type TEXT NOT NULL,
    principal_name TEXT NOT NULL,
    policy_document TEXT NOT NULL,
    PRIMARY KEY (account_id, principal_type, principal_name),
    CHECK (principal_type IN ('user', 'role')),
    FOREIGN KEY (account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE iam_policies (
    account_id TEXT NOT NULL,
    principal_type TEXT NOT NULL,
    principal_name TEXT NOT NULL,
    policy_name TEXT NOT NULL,
    policy_document TEXT NOT NULL,
    created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')),
    PRIMARY KEY (account_id, principal_type, principal_name, policy_name),
    CHECK (principal_type IN ('user', 'group', 'role')),
    FOREIGN KEY (account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE iam_role_tags (
    account_id TEXT NOT NULL,
    role_name TEXT NOT NULL,
    tag_key TEXT NOT NULL,
    tag_value TEXT NOT NULL,
    PRIMARY KEY (account_id, role_name, tag_key),
    FOREIGN KEY (account_id, role_name) REFERENCES iam_roles (account_id, role_name) ON DELETE CASCADE
);
CREATE TABLE iam_roles (
    account_id TEXT NOT NULL,
    role_name TEXT NOT NULL,
    role_arn TEXT NOT NULL,
    trust_policy TEXT NOT NULL,
    permissions_boundary_arn TEXT,
    created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')),
    PRIMARY KEY (account_id, role_name),
    UNIQUE (role_arn),
    FOREIGN KEY (account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE iam_sessions (
    session_token TEXT,
    access_key_id TEXT NOT NULL,
    secret_key_encrypted BLOB NOT NULL,
    account_id TEXT NOT NULL,
    role_name TEXT NOT NULL,
    session_name TEXT NOT NULL,
    session_tags TEXT,
    session_policy TEXT,
    expires_at TEXT NOT NULL,
    created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')),
    PRIMARY KEY (session_token),
    UNIQUE (access_key_id),
    FOREIGN KEY (account_id, role_name) REFERENCES iam_roles (account_id, role_name) ON DELETE CASCADE
);
CREATE TABLE iam_user_tags (
    account_id TEXT NOT NULL,
    user_name TEXT NOT NULL,
    tag_key TEXT NOT NULL,
    tag_value TEXT NOT NULL,
    PRIMARY KEY (account_id, user_name, tag_key),
    FOREIGN KEY (account_id, user_name) REFERENCES iam_users (account_id, user_name) ON DELETE CASCADE
);
CREATE TABLE iam_users (
    account_id TEXT NOT NULL,
    user_name TEXT NOT NULL,
    user_arn TEXT NOT NULL,
    password_hash TEXT,
    created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')),
    PRIMARY KEY (account_id, user_name),
    UNIQUE (user_arn),
    FOREIGN KEY (account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE idempotency_tokens (
    account_id TEXT NOT NULL,
    token TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')),
    PRIMARY KEY (account_id, token)
);
CREATE TABLE indexes (
    table_id TEXT NOT NULL,
    index_id TEXT NOT NULL,
    index_name TEXT NOT NULL,
    index_type TEXT NOT NULL,
    key_schema TEXT NOT NULL,
    projection TEXT NOT NULL,
    index_status TEXT NOT NULL DEFAULT 'ACTIVE',
    provisioned_throughput TEXT,
    propagation_delay_ms INTEGER,
    PRIMARY KEY (table_id, index_name),
    CONSTRAINT chk_propagation_delay_ms_non_negative CHECK (propagation_delay_ms IS NULL OR propagation_delay_ms >= 0),
    CONSTRAINT indexes_table_id_fkey FOREIGN KEY (table_id) REFERENCES tables (table_id) ON DELETE CASCADE
);
CREATE TABLE login_attempts (
    principal TEXT NOT NULL,
    attempted_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')),
    success INTEGER NOT NULL,
    source_ip TEXT
);
CREATE TABLE metrics (
    bucket TEXT NOT NULL,
    metric TEXT NOT NULL,
    table_name TEXT NOT NULL DEFAULT '',
    index_name TEXT NOT NULL DEFAULT '',
    operation TEXT NOT NULL DEFAULT '',
    sum REAL NOT NULL DEFAULT 0,
    count INTEGER NOT NULL DEFAULT 0,
    min REAL NOT NULL DEFAULT 9e999,
    max REAL NOT NULL DEFAULT -9e999,
    PRIMARY KEY (bucket, metric, table_name, index_name, operation)
);
CREATE TABLE schema_history (
    filename TEXT,
    applied_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')),
    PRIMARY KEY (filename)
);
CREATE TABLE seq_counters (
    name TEXT,
    value INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (name)
);
CREATE TABLE settings (
    key TEXT,
    value TEXT NOT NULL,
    PRIMARY KEY (key)
);
CREATE TABLE stream_records (
    shard_id TEXT NOT NULL,
    sequence_number TEXT NOT NULL,
    table_id TEXT NOT NULL,
    event_name TEXT NOT NULL,
    record_data TEXT NOT NULL,
    created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')),
    PRIMARY KEY (shard_id, sequence_number),
    FOREIGN KEY (shard_id) REFERENCES stream_shards (shard_id) ON DELETE CASCADE
);
CREATE TABLE stream_shards (
    shard_id TEXT,
    table_id TEXT NOT NULL,
    parent_shard_id TEXT,
    starting_sequence_number TEXT NOT NULL,
    ending_sequence_number TEXT,
    created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')),
    PRIMARY KEY (shard_id),
    FOREIGN KEY (table_id) REFERENCES tables (table_id) ON DELETE CASCADE
);
CREATE TABLE tables (
    account_id TEXT NOT NULL,
    table_name TEXT NOT NULL,
    key_schema TEXT NOT NULL,
    attribute_definitions TEXT NOT NULL,
    billing_mode TEXT NOT NULL DEFAULT 'PAY_PER_REQUEST',
    provisioned_throughput TEXT,
    stream_specification TEXT,
    table_status TEXT NOT NULL DEFAULT 'CREATING',
    creation_date_time TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')),
    table_size_bytes INTEGER NOT NULL DEFAULT 0,
    item_count INTEGER NOT NULL DEFAULT 0,
    table_arn TEXT NOT NULL,
    table_id TEXT NOT NULL,
    ttl_attribute TEXT,
    deletion_protection_enabled INTEGER NOT NULL DEFAULT 0,
    status_transition_at TEXT,
    stream_label TEXT,
    ttl_index_ready INTEGER NOT NULL DEFAULT 0,
    table_class TEXT,
    sse_specification TEXT,
    on_demand_throughput TEXT,
    PRIMARY KEY (account_id, table_name),
    CONSTRAINT tables_table_id_unique UNIQUE (table_id),
    FOREIGN KEY (account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE tags (
    resource_arn TEXT NOT NULL,
    tag_key TEXT NOT NULL,
    tag_value TEXT NOT NULL,
    PRIMARY KEY (resource_arn, tag_key)
);
CREATE TABLE vector_indexes (
    table_id TEXT NOT NULL,
    index_id TEXT NOT NULL,
    index_name TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    distance_function TEXT NOT NULL,
    vector_attribute TEXT NOT NULL,
    search_schema TEXT,
    projection TEXT NOT NULL,
    index_status TEXT NOT NULL DEFAULT 'CREATING',
    backfilling INTEGER,
    skipped_item_count INTEGER,
    PRIMARY KEY (table_id, index_name),
    CONSTRAINT chk_vector_active_has_no_backfilling CHECK (index_status <> 'ACTIVE' OR backfilling IS NULL),
    CONSTRAINT chk_vector_backfilling_bool CHECK (backfilling IS NULL OR backfilling IN (0, 1)),
    CONSTRAINT chk_vector_dimensions_positive CHECK (dimensions > 0),
    CONSTRAINT vector_indexes_table_id_fkey FOREIGN KEY (table_id) REFERENCES tables (table_id) ON DELETE CASCADE
);
CREATE INDEX idx_backup_items_arn ON backup_items (backup_arn);
CREATE INDEX idx_backups_table ON backups (account_id, table_name);
CREATE INDEX idx_gsi_pending_claim ON gsi_pending (worker_partition, ready_at, id);
CREATE INDEX idx_idempotency_tokens_created ON idempotency_tokens (created_at);
CREATE INDEX idx_login_attempts_principal_time ON login_attempts (principal, attempted_at desc);
CREATE INDEX idx_login_attempts_source_ip_time ON login_attempts (source_ip, attempted_at desc) WHERE source_ip is not null;
CREATE INDEX idx_metrics_bucket ON metrics (bucket);
CREATE INDEX idx_stream_records_created ON stream_records (created_at);
CREATE INDEX idx_stream_shards_table ON stream_shards (table_id);
CREATE INDEX idx_tables_pending_transition ON tables (status_transition_at) WHERE status_transition_at is not null;
CREATE UNIQUE INDEX idx_vector_indexes_index_id ON vector_indexes (index_id);
INSERT INTO seq_counters (name, value) VALUES ('stream', CAST(strftime('%s','now') AS INTEGER) * 1000000);
INSERT INTO settings (key, value) VALUES ('catalog_version', '0.0.3');
INSERT INTO settings (key, value) VALUES ('control_plane_delay_seconds', '0.25');
INSERT INTO settings (key, value) VALUES ('index_propagation_delay_ms', '10');
