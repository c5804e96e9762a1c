-- Step 3. Indexes that the operator has built for lists of a table, and what their keys are made of.
--
-- A key has at most 80 characters of a text: PostgreSQL refuses a row that is too long for an index. Each
-- function stands alone, since an index is also built where no schema is on the search path.

-- `[["7", "=complete", "-price"], …]`: the number of each index, and the terms of IndexShape.
ALTER TABLE tables ADD COLUMN indexes text NOT NULL DEFAULT '[]';

-- One key for all that a filter by equality may take for the same: a number, a text that is wholly this number,
-- and 1 and 0 for truths. Of two texts that begin alike the keys may be the same.
CREATE FUNCTION odata_equality_key(jsonb) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE jsonb_typeof($1)
  WHEN 'number' THEN left('n' || trim_scale($1::numeric)::text, 80)
  WHEN 'boolean' THEN CASE WHEN $1::boolean THEN 'n1' ELSE 'n0' END
  WHEN 'string' THEN CASE
    WHEN $1 #>> '{}' ~ '^-?(0|[1-9][0-9]{0,14})([.][0-9]{0,14}[1-9])?$' AND $1 #>> '{}' <> '-0'
    THEN 'n' || ($1 #>> '{}') ELSE left('s' || ($1 #>> '{}'), 80) END
  WHEN 'array' THEN 'j'
  WHEN 'object' THEN 'j'
  ELSE ''
END;

-- The text that a column is ordered by: of a date, whose ticks come second, that of its instant in UTC. Never to
-- be written with to_char, on which no index can be built.
CREATE FUNCTION odata_order_text(jsonb, jsonb) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
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

-- What keeps an index from giving its order alone: 'long' for a value that its key has not whole. What keeps it
-- from giving a range of numbers: 'number' for a text that may count as one.
CREATE FUNCTION odata_oddity(jsonb, jsonb) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
  WHEN jsonb_typeof($1) = 'string' THEN CASE
    WHEN $1 #>> '{}' ~ '^-?[0-9.]{1,16}$' THEN 'number'
    WHEN jsonb_typeof($2) = 'number' THEN NULL
    WHEN char_length($1 #>> '{}') > 80 THEN 'long' END
  WHEN jsonb_typeof($1) IN ('array', 'object') THEN CASE WHEN char_length($1::text) > 80 THEN 'long' END
END;
