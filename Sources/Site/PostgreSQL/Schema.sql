-- Step 1. The PostgreSQL schema exists, and is on the search path.

-- One line for each table that exists. A write locks the line of its table before it reads the last stamp
-- and number, and holds the lock until the commit.
CREATE TABLE tables (
  key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- As first spelled.
  name text NOT NULL,
  -- In lower case.
  folded text COLLATE "C" NOT NULL UNIQUE,
  soft_delete boolean NOT NULL,
  id_kind text NOT NULL,
  needs_sign_in boolean NOT NULL,
  declared_columns text NOT NULL,
  seen_columns text NOT NULL DEFAULT '[]',
  last_stamp bigint NOT NULL DEFAULT 0,
  last_number bigint NOT NULL DEFAULT 0
);

CREATE SEQUENCE versions;

-- One line for each item or tombstone. Nothing refers to `tables` by a foreign key: a table is never
-- removed, and each insert would lock its line once more.
CREATE TABLE items (
  position bigint GENERATED ALWAYS AS IDENTITY,
  table_key bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  -- The user's columns as they came.
  columns text NOT NULL,
  -- What queries look at: PostgreSQLContent.
  content jsonb NOT NULL,
  moments jsonb,
  -- Milliseconds since 1970, and ticks of 100 ns since year 1.
  created_at bigint NOT NULL,
  created_ticks bigint NOT NULL,
  stamp bigint NOT NULL,
  stamp_ticks bigint NOT NULL,
  version text COLLATE "C" NOT NULL,
  -- How often it was written.
  revision bigint NOT NULL DEFAULT 1,
  deleted boolean NOT NULL,
  PRIMARY KEY (table_key, id)
);
CREATE INDEX items_by_stamp ON items (table_key, stamp, id);
CREATE INDEX items_by_position ON items (table_key, position);
CREATE INDEX items_by_content ON items USING gin (content jsonb_path_ops);

-- What each applied write did, never changed afterwards. A standby that took over may give a number that the
-- lost server gave too; the markers of the two lines differ.
CREATE TABLE effects (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  marker uuid NOT NULL DEFAULT gen_random_uuid(),
  table_name text NOT NULL,
  folded text COLLATE "C" NOT NULL,
  item_id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  method text NOT NULL,
  idempotency_key text,
  at bigint NOT NULL
);
CREATE INDEX effects_by_item ON effects (folded, item_id);

-- The tokens that were handed out, each as its SHA-256: a token may be longer than an index takes.
CREATE TABLE logins (
  digest bytea PRIMARY KEY,
  user_id text NOT NULL
);

-- What compiled queries call. In texts U+0000 is written U+0001 U+0002, and U+0001 is written U+0001 U+0003.

-- UTF-16 units: two for what is beyond U+FFFF, one for each escaped pair.
CREATE FUNCTION odata_length(text) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS $$
  SELECT (2 * char_length($1)
    - char_length(regexp_replace($1, '[\U00010000-\U0010FFFF]', '', 'g'))
    - (char_length($1) - char_length(replace($1, U&'\0001', ''))))::numeric
$$;

CREATE FUNCTION odata_indexof(text, text) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS $$
  SELECT CASE strpos($1, $2) WHEN 0 THEN -1::numeric
    ELSE odata_length(left($1, strpos($1, $2) - 1)) END
$$;

CREATE FUNCTION odata_endswith(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS $$
  SELECT right($1, char_length($2)) = $2
$$;

-- Letter by letter: a capital sigma becomes the same small one everywhere.
CREATE FUNCTION odata_tolower(text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS $$
  SELECT lower(replace($1, U&'\03A3', U&'\03C3') COLLATE "und-x-icu")
$$;

CREATE FUNCTION odata_toupper(text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS $$
  SELECT upper($1 COLLATE "und-x-icu")
$$;

-- All that Unicode calls white space.
CREATE FUNCTION odata_trim(text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS $$
  SELECT btrim($1, U&'\0009\000A\000B\000C\000D\0020\0085\00A0\1680\2000\2001\2002\2003\2004\2005\2006\2007\2008\2009\200A\2028\2029\202F\205F\3000')
$$;

-- Null where the text would be longer than a limit and than both its parts.
CREATE FUNCTION odata_concat(text, text, bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS $$
  SELECT CASE WHEN octet_length($1) + octet_length($2) <= greatest($3, octet_length($1), octet_length($2))
    THEN $1 || $2 END
$$;

-- The order of two values of one type: -1, 0 or 1. 2 for two types; null where there is no order.
CREATE FUNCTION odata_compare(jsonb, jsonb) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS $$
  SELECT CASE
    WHEN jsonb_typeof($1) <> jsonb_typeof($2) THEN 2
    WHEN jsonb_typeof($1) = 'number' THEN sign($1::numeric - $2::numeric)::integer
    WHEN jsonb_typeof($1) = 'boolean' THEN $1::boolean::integer - $2::boolean::integer
    WHEN jsonb_typeof($1) = 'string' THEN CASE
      WHEN ($1 #>> '{}') COLLATE "C" < ($2 #>> '{}') COLLATE "C" THEN -1
      WHEN ($1 #>> '{}') COLLATE "C" > ($2 #>> '{}') COLLATE "C" THEN 1
      ELSE 0 END
  END
$$;

-- The number that an id is; null for any other.
CREATE FUNCTION odata_number(text) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS $$
  SELECT CASE WHEN $1 ~ '^-?[0-9]{1,19}$' THEN $1::numeric END
$$;

-- Parts of ticks, in UTC.
CREATE FUNCTION odata_year(bigint) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS $$
  SELECT extract(year FROM date '0001-01-01' + ($1 / 864000000000)::integer)
$$;
CREATE FUNCTION odata_month(bigint) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS $$
  SELECT extract(month FROM date '0001-01-01' + ($1 / 864000000000)::integer)
$$;
CREATE FUNCTION odata_day(bigint) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS $$
  SELECT extract(day FROM date '0001-01-01' + ($1 / 864000000000)::integer)
$$;
CREATE FUNCTION odata_hour(bigint) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS $$
  SELECT ($1 % 864000000000 / 36000000000)::numeric
$$;
CREATE FUNCTION odata_minute(bigint) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS $$
  SELECT ($1 % 36000000000 / 600000000)::numeric
$$;
CREATE FUNCTION odata_second(bigint) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS $$
  SELECT ($1 % 600000000 / 10000000)::numeric
$$;
