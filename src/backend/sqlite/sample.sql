-- What a server of 0.0.2 left in a small deployment, for the demonstration: one account, one table of 400
-- orders with one sparse global index. Written as texts, not with this program's own encoders.
INSERT INTO settings (key, value) VALUES ('default_account_id', '000000000000');
INSERT INTO accounts (account_id, account_name) VALUES ('000000000000', 'demo');
INSERT INTO tables (account_id, table_name, table_id, table_arn, table_status, key_schema, attribute_definitions,
  billing_mode, creation_date_time)
VALUES ('000000000000', 'Orders', '5a3b1e00-0000-4000-8000-000000000001',
  'arn:aws:dynamodb:eu-west-1:000000000000:table/Orders', 'ACTIVE',
  '[{"AttributeName":"customer","KeyType":"HASH"},{"AttributeName":"order","KeyType":"RANGE"}]',
  '[{"AttributeName":"customer","AttributeType":"S"},{"AttributeName":"order","AttributeType":"S"},{"AttributeName":"status","AttributeType":"S"}]',
  'PAY_PER_REQUEST', '2026-05-04T09:00:00.000Z');
INSERT INTO indexes (table_id, index_id, index_name, index_type, key_schema, projection, index_status)
VALUES ('5a3b1e00-0000-4000-8000-000000000001', '5a3b1e00-0000-4000-8000-000000000002', 'by_status', 'GSI',
  '[{"AttributeName":"status","KeyType":"HASH"}]', '{"ProjectionType":"ALL"}', 'ACTIVE');

CREATE TABLE "_ddb_5a3b1e00-0000-4000-8000-000000000001" (
  pk TEXT NOT NULL, sk_s TEXT, sk_n TEXT, sk_b BLOB, item_data TEXT NOT NULL, PRIMARY KEY (pk, sk_s));
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 399)
INSERT INTO "_ddb_5a3b1e00-0000-4000-8000-000000000001" (pk, sk_s, item_data)
SELECT printf('customer-%02d', i % 37), printf('2026-%05d', i),
  CASE WHEN i % 3 = 0
    THEN json_object('customer', json_object('S', printf('customer-%02d', i % 37)),
      'order', json_object('S', printf('2026-%05d', i)), 'total', json_object('N', CAST(i * 7 + 1 AS TEXT)),
      'status', json_object('S', CASE i % 2 WHEN 0 THEN 'paid' ELSE 'open' END),
      'tags', json_object('SS', json_array('new', 'web')))
    ELSE json_object('customer', json_object('S', printf('customer-%02d', i % 37)),
      'order', json_object('S', printf('2026-%05d', i)), 'total', json_object('N', CAST(i * 7 + 1 AS TEXT)),
      'gift', json_object('BOOL', json('true')), 'note', json_object('S', 'Grüße, ' || i))
  END
FROM n;

CREATE TABLE "_ddb_5a3b1e00-0000-4000-8000-000000000002" (
  pk TEXT NOT NULL, base_pk TEXT NOT NULL, base_sk_s TEXT, base_sk_n TEXT, base_sk_b BLOB, item_data TEXT NOT NULL,
  PRIMARY KEY (pk, base_pk, base_sk_s));
INSERT INTO "_ddb_5a3b1e00-0000-4000-8000-000000000002" (pk, base_pk, base_sk_s, item_data)
SELECT json_extract(item_data, '$.status.S'), pk, sk_s, item_data FROM "_ddb_5a3b1e00-0000-4000-8000-000000000001"
WHERE json_extract(item_data, '$.status.S') IS NOT NULL;
UPDATE tables SET item_count = 400,
  table_size_bytes = (SELECT sum(length(item_data)) FROM "_ddb_5a3b1e00-0000-4000-8000-000000000001");
