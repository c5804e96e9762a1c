BEGIN TRANSACTION;
CREATE TABLE aliases (
  table_id INTEGER NOT NULL REFERENCES tables(id) ON DELETE CASCADE,
  alias TEXT NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY (table_id, alias)
) STRICT, WITHOUT ROWID;
CREATE TABLE attempts (
  operation INTEGER NOT NULL REFERENCES operations(seq) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  method TEXT NOT NULL,
  target TEXT NOT NULL,
  request_body TEXT,
  status INTEGER,
  response_excerpt TEXT,
  outcome TEXT NOT NULL DEFAULT 'sending',
  error TEXT,
  reach TEXT,
  PRIMARY KEY (operation, number)
) STRICT, WITHOUT ROWID;
INSERT INTO "attempts" VALUES(1,1,1795243174441,1795243174457,'POST','/tables/todoitem','{"id":"synced","text":"synced","rank":1.50}',201,'{"id":"synced","text":"synced","rank":1.50,"createdAt":"2026-11-21T06:39:34.453Z","updatedAt":"2026-11-21T06:39:34.453Z","version":"MQ==","deleted":false}','done',NULL,NULL);
INSERT INTO "attempts" VALUES(2,1,1795243174445,1795243174459,'POST','/tables/todoitem','{"id":"changed","text":"changed","rank":1.50}',201,'{"id":"changed","text":"changed","rank":1.50,"createdAt":"2026-11-21T06:39:34.455Z","updatedAt":"2026-11-21T06:39:34.455Z","version":"MQ==","deleted":false}','done',NULL,NULL);
INSERT INTO "attempts" VALUES(3,1,1795243174454,1795243174459,'POST','/tables/todoitem','{"id":"deleted","text":"deleted","rank":1.50}',201,'{"id":"deleted","text":"deleted","rank":1.50,"createdAt":"2026-11-21T06:39:34.458Z","updatedAt":"2026-11-21T06:39:34.458Z","version":"MQ==","deleted":false}','done',NULL,NULL);
INSERT INTO "attempts" VALUES(4,1,1795243174455,1795243174462,'POST','/tables/todoitem','{"id":"fought","text":"fought","rank":1.50}',201,'{"id":"fought","text":"fought","rank":1.50,"createdAt":"2026-11-21T06:39:34.459Z","updatedAt":"2026-11-21T06:39:34.459Z","version":"MQ==","deleted":false}','done',NULL,NULL);
INSERT INTO "attempts" VALUES(5,1,1795243178421,1795243178423,'PATCH','/tables/todoitem/fought','{"text":"mine"}',412,'{"id":"fought","text":"theirs","rank":1.50,"createdAt":"2026-11-21T06:39:34.459Z","updatedAt":"2026-11-21T06:39:38.345Z","version":"Mg==","deleted":false}','conflict',NULL,NULL);
INSERT INTO "attempts" VALUES(6,1,1795243183469,1795243183471,'PATCH','/tables/todoitem/changed','{"text":"changed twice"}',NULL,NULL,'waiting','Failed to connect to 127.0.0.1 port 18998 after 0 ms: Couldn''t connect to server','notSent');
CREATE TABLE events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL,
  table_name TEXT,
  item_id TEXT,
  op_id TEXT
) STRICT;
INSERT INTO "events" VALUES(1,'run',NULL,NULL,NULL);
INSERT INTO "events" VALUES(2,'status',NULL,NULL,NULL);
INSERT INTO "events" VALUES(3,'run',NULL,NULL,NULL);
INSERT INTO "events" VALUES(4,'item','todoitem','synced','01a1fcd4-e886-7554-9f11-ef68045f1334');
INSERT INTO "events" VALUES(5,'operation','todoitem','synced','01a1fcd4-e886-7554-9f11-ef68045f1334');
INSERT INTO "events" VALUES(6,'item','todoitem','changed','01a1fcd4-e8ab-799b-8063-78905f9a5a66');
INSERT INTO "events" VALUES(7,'operation','todoitem','changed','01a1fcd4-e8ab-799b-8063-78905f9a5a66');
INSERT INTO "events" VALUES(8,'item','todoitem','deleted','01a1fcd4-e8cf-7e9c-853e-915d1d019597');
INSERT INTO "events" VALUES(9,'operation','todoitem','deleted','01a1fcd4-e8cf-7e9c-853e-915d1d019597');
INSERT INTO "events" VALUES(10,'item','todoitem','fought','01a1fcd4-e8e9-7a2b-8e0a-b2275548992e');
INSERT INTO "events" VALUES(11,'operation','todoitem','fought','01a1fcd4-e8e9-7a2b-8e0a-b2275548992e');
INSERT INTO "events" VALUES(12,'run',NULL,NULL,NULL);
INSERT INTO "events" VALUES(13,'operation','todoitem','synced','01a1fcd4-e886-7554-9f11-ef68045f1334');
INSERT INTO "events" VALUES(14,'operation','todoitem','changed','01a1fcd4-e8ab-799b-8063-78905f9a5a66');
INSERT INTO "events" VALUES(15,'operation','todoitem','deleted','01a1fcd4-e8cf-7e9c-853e-915d1d019597');
INSERT INTO "events" VALUES(16,'operation','todoitem','fought','01a1fcd4-e8e9-7a2b-8e0a-b2275548992e');
INSERT INTO "events" VALUES(17,'operation','todoitem','synced','01a1fcd4-e886-7554-9f11-ef68045f1334');
INSERT INTO "events" VALUES(18,'operation','todoitem','synced','01a1fcd4-e886-7554-9f11-ef68045f1334');
INSERT INTO "events" VALUES(19,'item','todoitem','synced','01a1fcd4-e886-7554-9f11-ef68045f1334');
INSERT INTO "events" VALUES(20,'operation','todoitem','changed','01a1fcd4-e8ab-799b-8063-78905f9a5a66');
INSERT INTO "events" VALUES(21,'operation','todoitem','changed','01a1fcd4-e8ab-799b-8063-78905f9a5a66');
INSERT INTO "events" VALUES(22,'item','todoitem','changed','01a1fcd4-e8ab-799b-8063-78905f9a5a66');
INSERT INTO "events" VALUES(23,'operation','todoitem','deleted','01a1fcd4-e8cf-7e9c-853e-915d1d019597');
INSERT INTO "events" VALUES(24,'operation','todoitem','deleted','01a1fcd4-e8cf-7e9c-853e-915d1d019597');
INSERT INTO "events" VALUES(25,'item','todoitem','deleted','01a1fcd4-e8cf-7e9c-853e-915d1d019597');
INSERT INTO "events" VALUES(26,'operation','todoitem','fought','01a1fcd4-e8e9-7a2b-8e0a-b2275548992e');
INSERT INTO "events" VALUES(27,'operation','todoitem','fought','01a1fcd4-e8e9-7a2b-8e0a-b2275548992e');
INSERT INTO "events" VALUES(28,'item','todoitem','fought','01a1fcd4-e8e9-7a2b-8e0a-b2275548992e');
INSERT INTO "events" VALUES(29,'run',NULL,NULL,NULL);
INSERT INTO "events" VALUES(30,'run',NULL,NULL,NULL);
INSERT INTO "events" VALUES(31,'run',NULL,NULL,NULL);
INSERT INTO "events" VALUES(32,'status',NULL,NULL,NULL);
INSERT INTO "events" VALUES(33,'item','todoitem','fought','01a1fcd4-f934-7bc5-994c-911dee13df60');
INSERT INTO "events" VALUES(34,'operation','todoitem','fought','01a1fcd4-f934-7bc5-994c-911dee13df60');
INSERT INTO "events" VALUES(35,'status',NULL,NULL,NULL);
INSERT INTO "events" VALUES(36,'run',NULL,NULL,NULL);
INSERT INTO "events" VALUES(37,'operation','todoitem','fought','01a1fcd4-f934-7bc5-994c-911dee13df60');
INSERT INTO "events" VALUES(38,'conflict','todoitem','fought','01a1fcd4-f934-7bc5-994c-911dee13df60');
INSERT INTO "events" VALUES(39,'item','todoitem','fought','01a1fcd4-f934-7bc5-994c-911dee13df60');
INSERT INTO "events" VALUES(40,'run',NULL,NULL,NULL);
INSERT INTO "events" VALUES(41,'item','todoitem','changed','01a1fcd5-0d6c-790e-af27-94d911efc0ba');
INSERT INTO "events" VALUES(42,'operation','todoitem','changed','01a1fcd5-0d6c-790e-af27-94d911efc0ba');
INSERT INTO "events" VALUES(43,'run',NULL,NULL,NULL);
INSERT INTO "events" VALUES(44,'operation','todoitem','changed','01a1fcd5-0d6c-790e-af27-94d911efc0ba');
INSERT INTO "events" VALUES(45,'operation','todoitem','changed','01a1fcd5-0d6c-790e-af27-94d911efc0ba');
INSERT INTO "events" VALUES(46,'item','todoitem','changed','01a1fcd5-0d6c-790e-af27-94d911efc0ba');
INSERT INTO "events" VALUES(47,'run',NULL,NULL,NULL);
INSERT INTO "events" VALUES(48,'item','todoitem','deleted','01a1fcd5-0d97-7b22-9b5a-6653e2ab3023');
INSERT INTO "events" VALUES(49,'operation','todoitem','deleted','01a1fcd5-0d97-7b22-9b5a-6653e2ab3023');
INSERT INTO "events" VALUES(50,'item','todoitem','inserted','01a1fcd5-0daa-74b2-8db0-46469b035f74');
INSERT INTO "events" VALUES(51,'operation','todoitem','inserted','01a1fcd5-0daa-74b2-8db0-46469b035f74');
INSERT INTO "events" VALUES(52,'run',NULL,NULL,NULL);
INSERT INTO "events" VALUES(53,'run',NULL,NULL,NULL);
CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
INSERT INTO "grdb_migrations" VALUES('1');
CREATE TABLE held_versions (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  item INTEGER NOT NULL REFERENCES items(rowid) ON DELETE CASCADE,
  version TEXT NOT NULL
) STRICT;
INSERT INTO "held_versions" VALUES(1,1,'UmcJVnbDJ3f3DeCwax0yvA==');
CREATE TABLE history (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  actor TEXT NOT NULL,
  table_id INTEGER REFERENCES tables(id) ON DELETE CASCADE,
  item_id TEXT,
  op_id TEXT,
  before TEXT,
  after TEXT,
  summary TEXT NOT NULL,
  undoable INTEGER NOT NULL DEFAULT 0,
  undone_by INTEGER
) STRICT;
INSERT INTO "history" VALUES(1,1795243174022,'write','client',1,'synced','01a1fcd4-e886-7554-9f11-ef68045f1334','{}','{"text":"synced","rank":1.50}','Inserted.',1,NULL);
INSERT INTO "history" VALUES(2,1795243174059,'write','client',1,'changed','01a1fcd4-e8ab-799b-8063-78905f9a5a66','{}','{"text":"changed","rank":1.50}','Inserted.',1,NULL);
INSERT INTO "history" VALUES(3,1795243174095,'write','client',1,'deleted','01a1fcd4-e8cf-7e9c-853e-915d1d019597','{}','{"text":"deleted","rank":1.50}','Inserted.',1,NULL);
INSERT INTO "history" VALUES(4,1795243174121,'write','client',1,'fought','01a1fcd4-e8e9-7a2b-8e0a-b2275548992e','{}','{"text":"fought","rank":1.50}','Inserted.',1,NULL);
INSERT INTO "history" VALUES(5,1795243174457,'sent','engine',1,'synced','01a1fcd4-e886-7554-9f11-ef68045f1334','{"text":"synced","rank":1.50}','{"text":"synced","rank":1.50}','The backend has it.',0,NULL);
INSERT INTO "history" VALUES(6,1795243174459,'sent','engine',1,'changed','01a1fcd4-e8ab-799b-8063-78905f9a5a66','{"text":"changed","rank":1.50}','{"text":"changed","rank":1.50}','The backend has it.',0,NULL);
INSERT INTO "history" VALUES(7,1795243174459,'sent','engine',1,'deleted','01a1fcd4-e8cf-7e9c-853e-915d1d019597','{"text":"deleted","rank":1.50}','{"text":"deleted","rank":1.50}','The backend has it.',0,NULL);
INSERT INTO "history" VALUES(8,1795243174462,'sent','engine',1,'fought','01a1fcd4-e8e9-7a2b-8e0a-b2275548992e','{"text":"fought","rank":1.50}','{"text":"fought","rank":1.50}','The backend has it.',0,NULL);
INSERT INTO "history" VALUES(9,1795243178292,'write','client',1,'fought','01a1fcd4-f934-7bc5-994c-911dee13df60','{"text":"fought","rank":1.50}','{"text":"mine","rank":1.50}','Changed text.',1,NULL);
INSERT INTO "history" VALUES(10,1795243178423,'conflict','engine',1,'fought','01a1fcd4-f934-7bc5-994c-911dee13df60','{"text":"mine","rank":1.50}','{"text":"theirs","rank":1.50}','It was changed on the backend and here.',0,NULL);
INSERT INTO "history" VALUES(11,1795243183468,'write','client',1,'changed','01a1fcd5-0d6c-790e-af27-94d911efc0ba','{"text":"changed","rank":1.50}','{"text":"changed twice","rank":1.50}','Changed text.',1,NULL);
INSERT INTO "history" VALUES(12,1795243183511,'write','client',1,'deleted','01a1fcd5-0d97-7b22-9b5a-6653e2ab3023','{"text":"deleted","rank":1.50}',NULL,'Deleted.',1,NULL);
INSERT INTO "history" VALUES(13,1795243183530,'write','client',1,'inserted','01a1fcd5-0daa-74b2-8db0-46469b035f74','{}','{"text":"new"}','Inserted.',1,NULL);
CREATE TABLE items (
  rowid INTEGER PRIMARY KEY,
  table_id INTEGER NOT NULL REFERENCES tables(id) ON DELETE CASCADE,
  id TEXT NOT NULL,
  columns TEXT NOT NULL,
  created_at INTEGER,
  stamp INTEGER NOT NULL,
  version TEXT NOT NULL,
  deleted INTEGER NOT NULL DEFAULT 0,
  server_version TEXT,
  server_updated_at TEXT,
  server_deleted INTEGER NOT NULL DEFAULT 0,
  shadow_columns TEXT,
  settled_at INTEGER NOT NULL DEFAULT 0,
  pending INTEGER,
  UNIQUE (table_id, id)
) STRICT;
INSERT INTO "items" VALUES(1,1,'synced','{"text":"synced","rank":1.50}',1795243174453,1795243174457,'MQ==',0,'MQ==','2026-11-21T06:39:34.453Z',0,NULL,1,NULL);
INSERT INTO "items" VALUES(2,1,'changed','{"text":"changed twice","rank":1.50}',1795243174455,1795243183468,'AdsZb1kIvlPsMfGK0C3xIQ==',0,'MQ==','2026-11-21T06:39:34.455Z',0,'{"text":"changed","rank":1.50}',2,6);
INSERT INTO "items" VALUES(3,1,'deleted','{"text":"deleted","rank":1.50}',1795243174458,1795243183511,'0yol7MvHj82x91OVkci6ig==',1,'MQ==','2026-11-21T06:39:34.458Z',0,'{"text":"deleted","rank":1.50}',3,7);
INSERT INTO "items" VALUES(4,1,'fought','{"text":"mine","rank":1.50}',1795243174459,1795243178292,'f+TiLkA0mJIlnkeW6AgFTw==',0,'Mg==','2026-11-21T06:39:38.345Z',0,'{"text":"theirs","rank":1.50}',5,5);
INSERT INTO "items" VALUES(5,1,'inserted','{"text":"new"}',1795243183530,1795243183530,'Hn9QsQruBcTP0oFIs/IoHg==',0,NULL,NULL,0,NULL,0,8);
CREATE TABLE ledger (
  name TEXT NOT NULL PRIMARY KEY,
  value INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
INSERT INTO "ledger" VALUES('accepted',8);
INSERT INTO "ledger" VALUES('collapsed',0);
INSERT INTO "ledger" VALUES('discarded',0);
INSERT INTO "ledger" VALUES('done',4);
CREATE TABLE members (
  token INTEGER NOT NULL REFERENCES tokens(id) ON DELETE CASCADE,
  item_id TEXT NOT NULL,
  PRIMARY KEY (token, item_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE meta (
  key TEXT NOT NULL PRIMARY KEY,
  value ANY NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "meta" VALUES('backend.address','http://127.0.0.1:18998');
INSERT INTO "meta" VALUES('backend.generation','2');
INSERT INTO "meta" VALUES('backend.proven','1');
INSERT INTO "meta" VALUES('changes',5);
CREATE TABLE operations (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  op_id TEXT NOT NULL UNIQUE,
  table_id INTEGER NOT NULL REFERENCES tables(id) ON DELETE CASCADE,
  item_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  state TEXT NOT NULL,
  reason TEXT,
  revision INTEGER NOT NULL DEFAULT 1,
  base_version TEXT,
  base_row TEXT,
  changed_columns TEXT NOT NULL DEFAULT '[]',
  payload TEXT,
  maybe_applied INTEGER NOT NULL DEFAULT 0,
  parameters TEXT NOT NULL DEFAULT '[]',
  generation INTEGER NOT NULL,
  conditional INTEGER NOT NULL DEFAULT 0,
  made_id INTEGER NOT NULL DEFAULT 0,
  highest_id INTEGER,
  traceparent TEXT,
  actor TEXT NOT NULL,
  title TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  first_attempt_at INTEGER,
  last_attempt_at INTEGER,
  next_attempt_at INTEGER,
  closed_at INTEGER,
  last_status INTEGER,
  last_error TEXT,
  successor_of INTEGER REFERENCES operations(seq) ON DELETE SET NULL
) STRICT;
INSERT INTO "operations" VALUES(1,'01a1fcd4-e886-7554-9f11-ef68045f1334',1,'synced','insert','done',NULL,3,NULL,NULL,'["text","rank"]','{"text":"synced","rank":1.50}',0,'[]',2,0,0,NULL,NULL,'client','synced',1,1795243174022,1795243174441,1795243174441,NULL,1795243174457,201,NULL,NULL);
INSERT INTO "operations" VALUES(2,'01a1fcd4-e8ab-799b-8063-78905f9a5a66',1,'changed','insert','done',NULL,3,NULL,NULL,'["text","rank"]','{"text":"changed","rank":1.50}',0,'[]',2,0,0,NULL,NULL,'client','changed',1,1795243174059,1795243174445,1795243174445,NULL,1795243174459,201,NULL,NULL);
INSERT INTO "operations" VALUES(3,'01a1fcd4-e8cf-7e9c-853e-915d1d019597',1,'deleted','insert','done',NULL,3,NULL,NULL,'["text","rank"]','{"text":"deleted","rank":1.50}',0,'[]',2,0,0,NULL,NULL,'client','deleted',1,1795243174095,1795243174454,1795243174454,NULL,1795243174459,201,NULL,NULL);
INSERT INTO "operations" VALUES(4,'01a1fcd4-e8e9-7a2b-8e0a-b2275548992e',1,'fought','insert','done',NULL,3,NULL,NULL,'["text","rank"]','{"text":"fought","rank":1.50}',0,'[]',2,0,0,NULL,NULL,'client','fought',1,1795243174121,1795243174455,1795243174455,NULL,1795243174462,201,NULL,NULL);
INSERT INTO "operations" VALUES(5,'01a1fcd4-f934-7bc5-994c-911dee13df60',1,'fought','update','conflict','It was changed on the backend and here.',3,'MQ==','{"text":"fought","rank":1.50}','["text"]','{"text":"mine"}',0,'[]',2,0,0,NULL,NULL,'client','mine',1,1795243178292,1795243178421,1795243178421,NULL,NULL,412,NULL,NULL);
INSERT INTO "operations" VALUES(6,'01a1fcd5-0d6c-790e-af27-94d911efc0ba',1,'changed','update','waiting','Failed to connect to 127.0.0.1 port 18998 after 0 ms: Couldn''t connect to server',3,'MQ==','{"text":"changed","rank":1.50}','["text"]','{"text":"changed twice"}',0,'[]',2,0,0,NULL,NULL,'client','changed twice',1,1795243183468,1795243183469,1795243183469,1795243184863,NULL,NULL,'Failed to connect to 127.0.0.1 port 18998 after 0 ms: Couldn''t connect to server',NULL);
INSERT INTO "operations" VALUES(7,'01a1fcd5-0d97-7b22-9b5a-6653e2ab3023',1,'deleted','delete','queued',NULL,1,'MQ==','{"text":"deleted","rank":1.50}','[]',NULL,0,'[]',2,0,0,NULL,NULL,'client','deleted',0,1795243183511,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "operations" VALUES(8,'01a1fcd5-0daa-74b2-8db0-46469b035f74',1,'inserted','insert','queued',NULL,1,NULL,NULL,'["text"]','{"text":"new"}',0,'[]',2,0,0,NULL,NULL,'client','new',0,1795243183530,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE run_pulls (
  run INTEGER NOT NULL REFERENCES runs(seq) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  table_name TEXT NOT NULL,
  requests INTEGER NOT NULL,
  received INTEGER NOT NULL,
  applied INTEGER NOT NULL,
  skipped_dirty INTEGER NOT NULL,
  deleted INTEGER NOT NULL,
  error TEXT,
  PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
INSERT INTO "run_pulls" VALUES(5,0,'todoitem',1,4,0,0,0,NULL);
INSERT INTO "run_pulls" VALUES(7,0,'todoitem',1,4,0,0,0,NULL);
CREATE TABLE runs (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  state TEXT NOT NULL,
  reason TEXT,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  push_results TEXT,
  sent INTEGER NOT NULL DEFAULT 0,
  applied INTEGER NOT NULL DEFAULT 0,
  conflicts INTEGER NOT NULL DEFAULT 0,
  quarantined INTEGER NOT NULL DEFAULT 0,
  remaining INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO "runs" VALUES(1,'5d21c53e390a2a3b','sync','complete',NULL,1795243172069,1795243172078,'[]',0,0,0,0,0);
INSERT INTO "runs" VALUES(3,'e47d2711d7e699a2','push','complete',NULL,1795243174422,1795243174469,'["done 01a1fcd4-e886-7554-9f11-ef68045f1334","done 01a1fcd4-e8ab-799b-8063-78905f9a5a66","done 01a1fcd4-e8cf-7e9c-853e-915d1d019597","done 01a1fcd4-e8e9-7a2b-8e0a-b2275548992e"]',4,4,0,0,0);
INSERT INTO "runs" VALUES(5,'3be705fd130dbe91','sync','complete',NULL,1795243178187,1795243178234,'[]',0,0,0,0,0);
INSERT INTO "runs" VALUES(7,'46071caf3532eb9c','sync','completeWithErrors','1 of the changes need a person''s decision.',1795243178412,1795243178426,'["conflict 01a1fcd4-f934-7bc5-994c-911dee13df60"]',1,0,1,0,1);
INSERT INTO "runs" VALUES(9,'2d7754e5b820e373','push','complete',NULL,1795243183469,1795243183473,'["waiting 01a1fcd5-0d6c-790e-af27-94d911efc0ba"]',1,0,0,0,2);
INSERT INTO "runs" VALUES(11,'f6432bdca429666f','push','offline','Failed to connect to 127.0.0.1 port 18998 after 0 ms: Couldn''t connect to server',1795243183844,1795243183849,NULL,0,0,0,0,0);
CREATE TABLE samples (
  at INTEGER NOT NULL PRIMARY KEY,
  depth INTEGER NOT NULL,
  succeeded INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  latency_ms INTEGER
) STRICT;
CREATE TABLE state_counts (
  table_id INTEGER NOT NULL REFERENCES tables(id) ON DELETE CASCADE,
  state TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (table_id, state)
) STRICT, WITHOUT ROWID;
INSERT INTO "state_counts" VALUES(1,'conflict',1);
INSERT INTO "state_counts" VALUES(1,'done',4);
INSERT INTO "state_counts" VALUES(1,'queued',2);
INSERT INTO "state_counts" VALUES(1,'sending',0);
INSERT INTO "state_counts" VALUES(1,'waiting',1);
CREATE TABLE table_counters (
  table_id INTEGER PRIMARY KEY REFERENCES tables(id) ON DELETE CASCADE,
  last_stamp INTEGER NOT NULL DEFAULT 0,
  live_items INTEGER NOT NULL DEFAULT 0,
  next_provisional_id INTEGER NOT NULL DEFAULT -1
) STRICT;
INSERT INTO "table_counters" VALUES(1,1795243183530,4,-1);
CREATE TABLE tables (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  name_key TEXT NOT NULL UNIQUE,
  id_kind TEXT NOT NULL DEFAULT 'string',
  is_complete INTEGER NOT NULL DEFAULT 0,
  read_policy TEXT NOT NULL DEFAULT 'local',
  write_policy TEXT NOT NULL DEFAULT 'local',
  conflict_policy TEXT NOT NULL DEFAULT 'ask',
  unconditional_policy TEXT NOT NULL DEFAULT 'ask',
  is_public INTEGER NOT NULL DEFAULT 0,
  paging TEXT NOT NULL DEFAULT 'keyset',
  column_spellings TEXT NOT NULL DEFAULT '{}',
  last_pull_at INTEGER,
  warning TEXT
) STRICT;
INSERT INTO "tables" VALUES(1,'todoitem','todoitem','string',1,'local','local','ask','ask',0,'keyset','{"rank":"rank","text":"text"}',1795243178425,NULL);
CREATE TABLE tokens (
  id INTEGER PRIMARY KEY,
  table_id INTEGER NOT NULL REFERENCES tables(id) ON DELETE CASCADE,
  query_id TEXT NOT NULL,
  filter_hash TEXT NOT NULL,
  updated_at TEXT,
  last_id TEXT,
  is_complete INTEGER NOT NULL DEFAULT 0,
  last_run_at INTEGER,
  UNIQUE (table_id, query_id, filter_hash)
) STRICT;
INSERT INTO "tokens" VALUES(1,1,'','','2026-11-21T06:39:38.345Z','fought',1,1795243178425);
CREATE TRIGGER table_made AFTER INSERT ON tables BEGIN
  INSERT INTO table_counters(table_id) VALUES (new.id);
END;
CREATE INDEX items_by_stamp ON items(table_id, stamp, id);
CREATE INDEX items_without_case ON items(table_id, id COLLATE NOCASE);
CREATE INDEX items_tombstones ON items(stamp) WHERE deleted = 1;
CREATE TRIGGER item_made AFTER INSERT ON items WHEN new.deleted = 0 BEGIN
  UPDATE table_counters SET live_items = live_items + 1 WHERE table_id = new.table_id;
END;
CREATE TRIGGER item_removed AFTER DELETE ON items WHEN old.deleted = 0 BEGIN
  UPDATE table_counters SET live_items = live_items - 1 WHERE table_id = old.table_id;
END;
CREATE TRIGGER item_turned AFTER UPDATE OF deleted ON items WHEN old.deleted <> new.deleted
BEGIN
  UPDATE table_counters SET live_items = live_items + old.deleted - new.deleted
    WHERE table_id = new.table_id;
END;
CREATE INDEX held_versions_by_item ON held_versions(item, seq);
CREATE INDEX operations_due ON operations(seq)
  WHERE state IN ('queued', 'waiting', 'unknown') AND successor_of IS NULL;
CREATE INDEX operations_timed ON operations(next_attempt_at)
  WHERE state IN ('waiting', 'unknown') AND successor_of IS NULL;
CREATE INDEX operations_by_state ON operations(state, seq);
CREATE UNIQUE INDEX operations_successors ON operations(successor_of)
  WHERE successor_of IS NOT NULL;
CREATE INDEX operations_closed ON operations(closed_at) WHERE closed_at IS NOT NULL;
CREATE TRIGGER operation_made AFTER INSERT ON operations BEGIN
  UPDATE ledger SET value = value + 1 WHERE name = 'accepted';
  INSERT INTO state_counts VALUES (new.table_id, new.state, 1)
    ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER operation_moved AFTER UPDATE OF state ON operations
  WHEN old.state <> new.state
BEGIN
  UPDATE state_counts SET count = count - 1
    WHERE table_id = old.table_id AND state = old.state;
  INSERT INTO state_counts VALUES (new.table_id, new.state, 1)
    ON CONFLICT DO UPDATE SET count = count + 1;
  UPDATE ledger SET value = value + 1 WHERE name = new.state;
END;
CREATE TRIGGER operation_reopened BEFORE UPDATE OF state ON operations
  WHEN old.state IN ('done', 'collapsed', 'discarded') AND old.state <> new.state
BEGIN
  SELECT RAISE(ABORT, 'a closed operation stays closed');
END;
CREATE TRIGGER operation_forgotten AFTER DELETE ON operations BEGIN
  UPDATE state_counts SET count = count - 1
    WHERE table_id = old.table_id AND state = old.state;
END;
CREATE INDEX history_by_time ON history(at);
CREATE VIEW MS_TableOperations AS
  SELECT o.seq AS id, o.item_id AS itemId, t.name AS "table", 0 AS tableKind,
    CASE WHEN o.kind = 'delete' THEN json_object('type', 2, 'item',
      json_set(coalesce(o.base_row, '{}'), '$.id', o.item_id))
    ELSE json_object('type', CASE o.kind WHEN 'insert' THEN 0 ELSE 1 END) END AS properties,
    o.created_at
  FROM operations o JOIN tables t ON t.id = o.table_id WHERE o.closed_at IS NULL;
CREATE VIEW MS_TableOperationErrors AS
  SELECT o.op_id AS id, o.seq AS operationId, 0 AS tableKind, json_object(
    'code', CASE o.state WHEN 'conflict' THEN -1303 ELSE -1301 END,
    'domain', 'com.Microsoft.MicrosoftAzureMobile.ErrorDomain',
    'description', coalesce(o.reason, ''), 'table', t.name,
    'operation', CASE o.kind WHEN 'insert' THEN 0 WHEN 'delete' THEN 2 ELSE 1 END,
    'itemId', o.item_id, 'statusCode', o.last_status,
    'item', json(CASE WHEN i.deleted = 0 THEN i.columns END),
    'serverItem', json(i.shadow_columns)) AS properties, o.created_at
  FROM operations o JOIN tables t ON t.id = o.table_id
  LEFT JOIN items i ON i.table_id = o.table_id AND i.id = o.item_id
  WHERE o.state IN ('conflict', 'quarantined');
CREATE VIEW MS_TableConfig AS
  SELECT k.id AS id, t.name AS "table", k.query_id AS key, 0 AS keyType,
    k.updated_at AS value, coalesce(k.last_run_at, 0) AS created_at
  FROM tokens k JOIN tables t ON t.id = k.table_id WHERE k.updated_at IS NOT NULL;
CREATE VIEW MS_TableOperations_items AS
  SELECT CAST(id AS TEXT) AS id, json_object('itemId', itemId, 'table', "table",
    'tableKind', tableKind, 'properties', properties || '') AS columns, created_at,
    created_at AS stamp, 'AAAAAAAAAAA=' AS version, 0 AS deleted
  FROM MS_TableOperations;
CREATE VIEW MS_TableOperationErrors_items AS
  SELECT id, json_object('operationId', operationId, 'tableKind', tableKind, 'properties',
    properties || '') AS columns, created_at, created_at AS stamp, 'AAAAAAAAAAA=' AS version,
    0 AS deleted
  FROM MS_TableOperationErrors;
CREATE VIEW MS_TableConfig_items AS
  SELECT CAST(id AS TEXT) AS id, json_object('table', "table", 'key', key, 'keyType',
    keyType, 'value', value) AS columns, created_at, created_at AS stamp,
    'AAAAAAAAAAA=' AS version, 0 AS deleted
  FROM MS_TableConfig;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('runs',12);
INSERT INTO "sqlite_sequence" VALUES('events',53);
INSERT INTO "sqlite_sequence" VALUES('operations',8);
INSERT INTO "sqlite_sequence" VALUES('history',13);
INSERT INTO "sqlite_sequence" VALUES('held_versions',4);
COMMIT;
