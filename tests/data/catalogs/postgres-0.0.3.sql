-- Catalog 0.0.3 on PostgreSQL as a server of that version made it: test data, never changed.
CREATE TABLE access_keys (
    access_key_id text NOT NULL,
    secret_key_encrypted bytea NOT NULL,
    account_id text NOT NULL,
    user_name text NOT NULL,
    is_active boolean NOT NULL DEFAULT true,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (access_key_id)
);
CREATE TABLE accounts (
    account_id text NOT NULL,
    account_name text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id),
    CONSTRAINT accounts_account_name_key UNIQUE (account_name)
);
CREATE TABLE admin_users (
    admin_name text NOT NULL,
    password_hash text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (admin_name)
);
CREATE TABLE backup_items (
    backup_arn text NOT NULL,
    pk text NOT NULL,
    sk text,
    item_data jsonb NOT NULL
);
CREATE TABLE backups (
    backup_arn text NOT NULL,
    backup_name text NOT NULL,
    table_id text NOT NULL,
    table_name text NOT NULL,
    account_id text NOT NULL,
    backup_status text NOT NULL DEFAULT 'AVAILABLE',
    backup_type text NOT NULL DEFAULT 'USER',
    backup_size_bytes bigint NOT NULL DEFAULT 0,
    item_count bigint NOT NULL DEFAULT 0,
    key_schema jsonb NOT NULL,
    attribute_definitions jsonb NOT NULL,
    billing_mode text NOT NULL DEFAULT 'PAY_PER_REQUEST',
    provisioned_throughput jsonb,
    stream_specification jsonb,
    created_at timestamptz NOT NULL DEFAULT now(),
    vector_indexes jsonb,
    PRIMARY KEY (backup_arn)
);
CREATE TABLE continuous_backups (
    account_id text NOT NULL,
    table_name text NOT NULL,
    pitr_enabled boolean NOT NULL DEFAULT false,
    earliest_restorable timestamptz,
    latest_restorable timestamptz,
    PRIMARY KEY (account_id, table_name)
);
CREATE TABLE iam_group_members (
    account_id text NOT NULL,
    group_name text NOT NULL,
    user_name text NOT NULL,
    PRIMARY KEY (account_id, group_name, user_name)
);
CREATE TABLE iam_groups (
    account_id text NOT NULL,
    group_name text NOT NULL,
    group_arn text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, group_name),
    CONSTRAINT iam_groups_group_arn_key UNIQUE (group_arn)
);
CREATE TABLE iam_permissions_boundaries (
    account_id text NOT NULL,
    principal_type text NOT NULL,
    principal_name text NOT NULL,
    policy_document jsonb NOT NULL,
    PRIMARY KEY (account_id, principal_type, principal_name),
    CONSTRAINT iam_permissions_boundaries_principal_type_check CHECK (principal_type IN ('user', 'role'))
);
CREATE TABLE iam_policies (
    account_id text NOT NULL,
    principal_type text NOT NULL,
    principal_name text NOT NULL,
    policy_name text NOT NULL,
    policy_document jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, principal_type, principal_name, policy_name),
    CONSTRAINT iam_policies_principal_type_check CHECK (principal_type IN ('user', 'group', 'role'))
);
CREATE TABLE iam_role_tags (
    account_id text NOT NULL,
    role_name text NOT NULL,
    tag_key text NOT NULL,
    tag_value text NOT NULL,
    PRIMARY KEY (account_id, role_name, tag_key)
);
CREATE TABLE iam_roles (
    account_id text NOT NULL,
    role_name text NOT NULL,
    role_arn text NOT NULL,
    trust_policy jsonb NOT NULL,
    permissions_boundary_arn text,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, role_name),
    CONSTRAINT iam_roles_role_arn_key UNIQUE (role_arn)
);
CREATE TABLE iam_sessions (
    session_token text NOT NULL,
    access_key_id text NOT NULL,
    secret_key_encrypted bytea NOT NULL,
    account_id text NOT NULL,
    role_name text NOT NULL,
    session_name text NOT NULL,
    session_tags jsonb,
    session_policy jsonb,
    expires_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (session_token),
    CONSTRAINT iam_sessions_access_key_id_key UNIQUE (access_key_id)
);
CREATE TABLE iam_user_tags (
    account_id text NOT NULL,
    user_name text NOT NULL,
    tag_key text NOT NULL,
    tag_value text NOT NULL,
    PRIMARY KEY (account_id, user_name, tag_key)
);
CREATE TABLE iam_users (
    account_id text NOT NULL,
    user_name text NOT NULL,
    user_arn text NOT NULL,
    password_hash text,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, user_name),
    CONSTRAINT iam_users_user_arn_key UNIQUE (user_arn)
);
CREATE TABLE idempotency_tokens (
    token text NOT NULL,
    fingerprint text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (token)
);
CREATE TABLE indexes (
    table_id text NOT NULL,
    index_id text NOT NULL DEFAULT (gen_random_uuid())::text,
    index_name text NOT NULL,
    index_type text NOT NULL,
    key_schema jsonb NOT NULL,
    projection jsonb NOT NULL,
    index_status text NOT NULL DEFAULT 'ACTIVE',
    provisioned_throughput jsonb,
    propagation_delay_ms integer,
    PRIMARY KEY (table_id, index_name),
    CONSTRAINT chk_propagation_delay_ms_non_negative CHECK (propagation_delay_ms IS NULL OR propagation_delay_ms >= 0)
);
CREATE TABLE login_attempts (
    principal text NOT NULL,
    attempted_at timestamptz NOT NULL DEFAULT now(),
    success boolean NOT NULL,
    source_ip text
);
CREATE TABLE metrics (
    bucket timestamptz NOT NULL,
    metric text NOT NULL,
    table_name text NOT NULL DEFAULT '',
    index_name text NOT NULL DEFAULT '',
    operation text NOT NULL DEFAULT '',
    sum double precision NOT NULL DEFAULT 0,
    count bigint NOT NULL DEFAULT 0,
    min double precision NOT NULL DEFAULT 'Infinity',
    max double precision NOT NULL DEFAULT '-Infinity',
    PRIMARY KEY (bucket, metric, table_name, index_name, operation)
);
CREATE TABLE schema_history (
    filename text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (filename)
);
CREATE TABLE settings (
    key text NOT NULL,
    value text NOT NULL,
    PRIMARY KEY (key)
);
CREATE TABLE stream_records (
    shard_id text NOT NULL,
    sequence_number text NOT NULL,
    table_id text NOT NULL,
    event_name text NOT NULL,
    record_data jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (shard_id, sequence_number)
);
CREATE TABLE stream_shards (
    shard_id text NOT NULL,
    table_id text NOT NULL,
    parent_shard_id text,
    starting_sequence_number text NOT NULL,
    ending_sequence_number text,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (shard_id)
);
CREATE TABLE tables (
    account_id text NOT NULL,
    table_name text NOT NULL,
    key_schema jsonb NOT NULL,
    attribute_definitions jsonb NOT NULL,
    billing_mode text NOT NULL DEFAULT 'PAY_PER_REQUEST',
    provisioned_throughput jsonb,
    stream_specification jsonb,
    table_status text NOT NULL DEFAULT 'CREATING',
    creation_date_time timestamptz NOT NULL DEFAULT now(),
    table_size_bytes bigint NOT NULL DEFAULT 0,
    item_count bigint NOT NULL DEFAULT 0,
    table_arn text NOT NULL,
    table_id text NOT NULL,
    ttl_attribute text,
    deletion_protection_enabled boolean NOT NULL DEFAULT false,
    status_transition_at timestamptz,
    stream_label text,
    ttl_index_ready boolean NOT NULL DEFAULT false,
    table_class text,
    sse_specification jsonb,
    on_demand_throughput jsonb,
    PRIMARY KEY (account_id, table_name),
    CONSTRAINT tables_table_id_unique UNIQUE (table_id)
);
CREATE TABLE tags (
    resource_arn text NOT NULL,
    tag_key text NOT NULL,
    tag_value text NOT NULL,
    PRIMARY KEY (resource_arn, tag_key)
);
CREATE TABLE vector_indexes (
    table_id text NOT NULL,
    index_id text NOT NULL,
    index_name text NOT NULL,
    dimensions integer NOT NULL,
    distance_function text NOT NULL,
    vector_attribute jsonb NOT NULL,
    search_schema jsonb,
    projection jsonb NOT NULL,
    index_status text NOT NULL DEFAULT 'CREATING',
    backfilling boolean,
    skipped_item_count bigint,
    build_owner text,
    build_heartbeat_at timestamptz,
    PRIMARY KEY (table_id, index_name),
    CONSTRAINT chk_vector_active_has_no_backfilling CHECK (index_status <> 'ACTIVE' OR backfilling IS NULL),
    CONSTRAINT chk_vector_dimensions_positive CHECK (dimensions > 0)
);
ALTER TABLE access_keys ADD CONSTRAINT access_keys_account_id_user_name_fkey FOREIGN KEY (account_id, user_name) REFERENCES iam_users (account_id, user_name) ON DELETE CASCADE;
ALTER TABLE backup_items ADD CONSTRAINT backup_items_backup_arn_fkey FOREIGN KEY (backup_arn) REFERENCES backups (backup_arn) ON DELETE CASCADE;
ALTER TABLE iam_group_members ADD CONSTRAINT iam_group_members_account_id_group_name_fkey FOREIGN KEY (account_id, group_name) REFERENCES iam_groups (account_id, group_name) ON DELETE CASCADE;
ALTER TABLE iam_group_members ADD CONSTRAINT iam_group_members_account_id_user_name_fkey FOREIGN KEY (account_id, user_name) REFERENCES iam_users (account_id, user_name) ON DELETE CASCADE;
ALTER TABLE iam_groups ADD CONSTRAINT iam_groups_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts (account_id) ON DELETE CASCADE;
ALTER TABLE iam_permissions_boundaries ADD CONSTRAINT iam_permissions_boundaries_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts (account_id) ON DELETE CASCADE;
ALTER TABLE iam_policies ADD CONSTRAINT iam_policies_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts (account_id) ON DELETE CASCADE;
ALTER TABLE iam_role_tags ADD CONSTRAINT iam_role_tags_account_id_role_name_fkey FOREIGN KEY (account_id, role_name) REFERENCES iam_roles (account_id, role_name) ON DELETE CASCADE;
ALTER TABLE iam_roles ADD CONSTRAINT iam_roles_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts (account_id) ON DELETE CASCADE;
ALTER TABLE iam_sessions ADD CONSTRAINT iam_sessions_account_id_role_name_fkey FOREIGN KEY (account_id, role_name) REFERENCES iam_roles (account_id, role_name) ON DELETE CASCADE;
ALTER TABLE iam_user_tags ADD CONSTRAINT iam_user_tags_account_id_user_name_fkey FOREIGN KEY (account_id, user_name) REFERENCES iam_users (account_id, user_name) ON DELETE CASCADE;
ALTER TABLE iam_users ADD CONSTRAINT iam_users_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts (account_id) ON DELETE CASCADE;
ALTER TABLE indexes ADD CONSTRAINT indexes_table_id_fkey FOREIGN KEY (table_id) REFERENCES tables (table_id) ON DELETE CASCADE;
ALTER TABLE stream_records ADD CONSTRAINT stream_records_shard_id_fkey FOREIGN KEY (shard_id) REFERENCES stream_shards (shard_id) ON DELETE CASCADE;
ALTER TABLE stream_shards ADD CONSTRAINT stream_shards_table_id_fkey FOREIGN KEY (table_id) REFERENCES tables (table_id) ON DELETE CASCADE;
ALTER TABLE tables ADD CONSTRAINT tables_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts (account_id) ON DELETE CASCADE;
ALTER TABLE vector_indexes ADD CONSTRAINT vector_indexes_table_id_fkey FOREIGN KEY (table_id) REFERENCES tables (table_id) ON DELETE CASCADE;
CREATE INDEX idx_backup_items_arn ON backup_items (backup_arn);
CREATE INDEX idx_backups_table ON backups (account_id, table_name);
CREATE INDEX idx_idempotency_tokens_created ON idempotency_tokens (created_at);
CREATE INDEX idx_login_attempts_principal_time ON login_attempts (principal, attempted_at desc);
CREATE INDEX idx_login_attempts_source_ip_time ON login_attempts (source_ip, attempted_at desc) WHERE source_ip is not null;
CREATE INDEX idx_metrics_bucket ON metrics (bucket);
CREATE INDEX idx_stream_records_created ON stream_records (created_at);
CREATE INDEX idx_stream_shards_table ON stream_shards (table_id);
CREATE INDEX idx_tables_pending_transition ON tables (status_transition_at) WHERE status_transition_at is not null;
CREATE UNIQUE INDEX idx_vector_indexes_index_id ON vector_indexes (index_id);
CREATE SEQUENCE stream_seq;
SELECT setval('stream_seq', (extract(epoch FROM now()) * 1000000)::bigint);
INSERT INTO settings (key, value) VALUES ('catalog_version', '0.0.3');
INSERT INTO settings (key, value) VALUES ('control_plane_delay_seconds', '0.25');
INSERT INTO settings (key, value) VALUES ('gsi_propagation_delay_ms', '10');
INSERT INTO schema_history (filename) VALUES ('001_schema.sql');
INSERT INTO schema_history (filename) VALUES ('002_vector_indexes.sql');
