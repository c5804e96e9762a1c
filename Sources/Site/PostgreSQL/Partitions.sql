-- Step 4. A part of `items` for each table, `items_7` of the table with the key 7. So each table has indexes and
-- statistics of its own. A sequence or function may be there where a backup from before this step was restored.

-- The indexes by which lists are ordered: `[["+price"], ["-due"]]`, a column with its direction.
ALTER TABLE tables ADD COLUMN indexes text NOT NULL DEFAULT '[]';

-- Requests to nodes that run wait from here to the commit.
LOCK TABLE tables, items IN ACCESS EXCLUSIVE MODE;
ALTER TABLE items RENAME TO undivided_items;
CREATE SEQUENCE IF NOT EXISTS item_positions;
SELECT setval('item_positions', last_value) FROM items_position_seq;
CREATE TABLE items (LIKE undivided_items INCLUDING DEFAULTS) PARTITION BY LIST (table_key);
ALTER TABLE items ALTER COLUMN position SET DEFAULT nextval('item_positions');
DO $$
DECLARE known record;
BEGIN
  FOR known IN SELECT key FROM tables LOOP
    EXECUTE format('CREATE TABLE items_%1$s PARTITION OF items FOR VALUES IN (%1$s)', known.key);
  END LOOP;
END $$;
INSERT INTO items SELECT * FROM undivided_items;
DROP TABLE undivided_items;

-- What a list counts or skips is found in these alone. No primary key: pg_restore --clean cannot drop that of a
-- part.
CREATE UNIQUE INDEX items_by_id ON items (table_key, id) INCLUDE (deleted);
CREATE INDEX items_by_stamp ON items (table_key, stamp, id) INCLUDE (deleted);
CREATE INDEX items_by_position ON items (table_key, position) INCLUDE (id, deleted);
CREATE INDEX items_by_content ON items USING gin (content jsonb_path_ops);
CREATE INDEX tombstones_by_stamp ON items (table_key, stamp) WHERE deleted;
ANALYZE items;

-- A table and its part come together, also where a node of an older version makes the table. Other tables are
-- read and written meanwhile.
CREATE OR REPLACE FUNCTION make_part_of_items() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  EXECUTE format('CREATE TABLE items_%s (LIKE items INCLUDING ALL)', NEW.key);
  EXECUTE format('ALTER TABLE items ATTACH PARTITION items_%1$s FOR VALUES IN (%1$s)', NEW.key);
  RETURN NULL;
END $$;
CREATE TRIGGER part_of_items AFTER INSERT ON tables FOR EACH ROW EXECUTE FUNCTION make_part_of_items();

-- The text that a column is ordered by: of a date, whose ticks come second, that of its instant in UTC. to_char
-- would depend on settings, so no index could be built on it.
CREATE OR REPLACE FUNCTION odata_order_text(jsonb, jsonb) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
  WHEN jsonb_typeof($2) = 'number' THEN
    lpad(extract(year FROM date '0001-01-01' + ($2::bigint / 864000000000)::integer)::text, 4, '0') || '-'
    || lpad(extract(month FROM date '0001-01-01' + ($2::bigint / 864000000000)::integer)::text, 2, '0') || '-'
    || lpad(extract(day FROM date '0001-01-01' + ($2::bigint / 864000000000)::integer)::text, 2, '0') || 'T'
    || lpad(($2::bigint % 864000000000 / 36000000000)::text, 2, '0') || ':'
    || lpad(($2::bigint % 36000000000 / 600000000)::text, 2, '0') || ':'
    || lpad(($2::bigint % 600000000 / 10000000)::text, 2, '0') || '.'
    || lpad(($2::bigint % 10000000)::text, 7, '0') || 'Z'
  WHEN jsonb_typeof($1) = 'string' THEN $1 #>> '{}'
  WHEN jsonb_typeof($1) IN ('array', 'object') THEN $1::text
END;
