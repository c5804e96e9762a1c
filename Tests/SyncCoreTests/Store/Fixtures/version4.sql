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
  reach TEXT, request_fields TEXT NOT NULL DEFAULT '[]', response_fields TEXT NOT NULL DEFAULT '[]',
  PRIMARY KEY (operation, number)
) STRICT, WITHOUT ROWID;
INSERT INTO "attempts" VALUES(1,1,1795243190142,1795243190154,'POST','/tables/todoitem','{"id":"synced","text":"synced","rank":1.50}',201,'{"id":"synced","text":"synced","rank":1.50,"createdAt":"2026-11-21T06:39:50.153Z","updatedAt":"2026-11-21T06:39:50.153Z","version":"MQ==","deleted":false}','done',NULL,NULL,'[]','[]');
INSERT INTO "attempts" VALUES(2,1,1795243190156,1795243190157,'POST','/tables/todoitem','{"id":"changed","text":"changed","rank":1.50}',201,'{"id":"changed","text":"changed","rank":1.50,"createdAt":"2026-11-21T06:39:50.156Z","updatedAt":"2026-11-21T06:39:50.156Z","version":"MQ==","deleted":false}','done',NULL,NULL,'[]','[]');
INSERT INTO "attempts" VALUES(3,1,1795243190158,1795243190169,'POST','/tables/todoitem','{"id":"deleted","text":"deleted","rank":1.50}',201,'{"id":"deleted","text":"deleted","rank":1.50,"createdAt":"2026-11-21T06:39:50.158Z","updatedAt":"2026-11-21T06:39:50.158Z","version":"MQ==","deleted":false}','done',NULL,NULL,'[]','[]');
INSERT INTO "attempts" VALUES(4,1,1795243190170,1795243190171,'POST','/tables/todoitem','{"id":"fought","text":"fought","rank":1.50}',201,'{"id":"fought","text":"fought","rank":1.50,"createdAt":"2026-11-21T06:39:50.170Z","updatedAt":"2026-11-21T06:39:50.170Z","version":"MQ==","deleted":false}','done',NULL,NULL,'[]','[]');
INSERT INTO "attempts" VALUES(5,1,1795243194392,1795243194398,'PATCH','/tables/todoitem/fought','{"text":"mine"}',412,'{"id":"fought","text":"theirs","rank":1.50,"createdAt":"2026-11-21T06:39:50.170Z","updatedAt":"2026-11-21T06:39:54.169Z","version":"Mg==","deleted":false}','conflict',NULL,NULL,'[]','[]');
INSERT INTO "attempts" VALUES(6,1,1795243199494,1795243199510,'PATCH','/tables/todoitem/changed','{"text":"changed twice"}',NULL,NULL,'waiting','Failed to connect to 127.0.0.1 port 18998 after 0 ms: Couldn''t connect to server','notSent','[]','[]');
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
INSERT INTO "events" VALUES(4,'item','todoitem','synced','01a1fcd5-25a5-7abe-bc2e-66b3263b347a');
INSERT INTO "events" VALUES(5,'operation','todoitem','synced','01a1fcd5-25a5-7abe-bc2e-66b3263b347a');
INSERT INTO "events" VALUES(6,'item','todoitem','changed','01a1fcd5-25d9-7a66-a984-c957533671eb');
INSERT INTO "events" VALUES(7,'operation','todoitem','changed','01a1fcd5-25d9-7a66-a984-c957533671eb');
INSERT INTO "events" VALUES(8,'item','todoitem','deleted','01a1fcd5-2609-762b-9a3b-318f98f73c29');
INSERT INTO "events" VALUES(9,'operation','todoitem','deleted','01a1fcd5-2609-762b-9a3b-318f98f73c29');
INSERT INTO "events" VALUES(10,'item','todoitem','fought','01a1fcd5-2629-77d4-a876-69efbe7b009e');
INSERT INTO "events" VALUES(11,'operation','todoitem','fought','01a1fcd5-2629-77d4-a876-69efbe7b009e');
INSERT INTO "events" VALUES(12,'run',NULL,NULL,NULL);
INSERT INTO "events" VALUES(13,'operation','todoitem','synced','01a1fcd5-25a5-7abe-bc2e-66b3263b347a');
INSERT INTO "events" VALUES(14,'operation','todoitem','synced','01a1fcd5-25a5-7abe-bc2e-66b3263b347a');
INSERT INTO "events" VALUES(15,'operation','todoitem','synced','01a1fcd5-25a5-7abe-bc2e-66b3263b347a');
INSERT INTO "events" VALUES(16,'item','todoitem','synced','01a1fcd5-25a5-7abe-bc2e-66b3263b347a');
INSERT INTO "events" VALUES(17,'operation','todoitem','changed','01a1fcd5-25d9-7a66-a984-c957533671eb');
INSERT INTO "events" VALUES(18,'operation','todoitem','changed','01a1fcd5-25d9-7a66-a984-c957533671eb');
INSERT INTO "events" VALUES(19,'operation','todoitem','changed','01a1fcd5-25d9-7a66-a984-c957533671eb');
INSERT INTO "events" VALUES(20,'item','todoitem','changed','01a1fcd5-25d9-7a66-a984-c957533671eb');
INSERT INTO "events" VALUES(21,'operation','todoitem','deleted','01a1fcd5-2609-762b-9a3b-318f98f73c29');
INSERT INTO "events" VALUES(22,'operation','todoitem','deleted','01a1fcd5-2609-762b-9a3b-318f98f73c29');
INSERT INTO "events" VALUES(23,'operation','todoitem','deleted','01a1fcd5-2609-762b-9a3b-318f98f73c29');
INSERT INTO "events" VALUES(24,'item','todoitem','deleted','01a1fcd5-2609-762b-9a3b-318f98f73c29');
INSERT INTO "events" VALUES(25,'operation','todoitem','fought','01a1fcd5-2629-77d4-a876-69efbe7b009e');
INSERT INTO "events" VALUES(26,'operation','todoitem','fought','01a1fcd5-2629-77d4-a876-69efbe7b009e');
INSERT INTO "events" VALUES(27,'operation','todoitem','fought','01a1fcd5-2629-77d4-a876-69efbe7b009e');
INSERT INTO "events" VALUES(28,'item','todoitem','fought','01a1fcd5-2629-77d4-a876-69efbe7b009e');
INSERT INTO "events" VALUES(29,'run',NULL,NULL,NULL);
INSERT INTO "events" VALUES(30,'run',NULL,NULL,NULL);
INSERT INTO "events" VALUES(31,'run',NULL,NULL,NULL);
INSERT INTO "events" VALUES(32,'status',NULL,NULL,NULL);
INSERT INTO "events" VALUES(33,'item','todoitem','fought','01a1fcd5-36e5-755d-b941-a375883e3c6c');
INSERT INTO "events" VALUES(34,'operation','todoitem','fought','01a1fcd5-36e5-755d-b941-a375883e3c6c');
INSERT INTO "events" VALUES(35,'status',NULL,NULL,NULL);
INSERT INTO "events" VALUES(36,'run',NULL,NULL,NULL);
INSERT INTO "events" VALUES(37,'operation','todoitem','fought','01a1fcd5-36e5-755d-b941-a375883e3c6c');
INSERT INTO "events" VALUES(38,'conflict','todoitem','fought','01a1fcd5-36e5-755d-b941-a375883e3c6c');
INSERT INTO "events" VALUES(39,'item','todoitem','fought','01a1fcd5-36e5-755d-b941-a375883e3c6c');
INSERT INTO "events" VALUES(40,'run',NULL,NULL,NULL);
INSERT INTO "events" VALUES(41,'item','todoitem','changed','01a1fcd5-4bf1-7743-a15f-88edec2cc58c');
INSERT INTO "events" VALUES(42,'operation','todoitem','changed','01a1fcd5-4bf1-7743-a15f-88edec2cc58c');
INSERT INTO "events" VALUES(43,'run',NULL,NULL,NULL);
INSERT INTO "events" VALUES(44,'operation','todoitem','changed','01a1fcd5-4bf1-7743-a15f-88edec2cc58c');
INSERT INTO "events" VALUES(45,'operation','todoitem','changed','01a1fcd5-4bf1-7743-a15f-88edec2cc58c');
INSERT INTO "events" VALUES(46,'item','todoitem','changed','01a1fcd5-4bf1-7743-a15f-88edec2cc58c');
INSERT INTO "events" VALUES(47,'run',NULL,NULL,NULL);
INSERT INTO "events" VALUES(48,'item','todoitem','deleted','01a1fcd5-4c59-78ce-93b3-b8d08c940113');
INSERT INTO "events" VALUES(49,'operation','todoitem','deleted','01a1fcd5-4c59-78ce-93b3-b8d08c940113');
INSERT INTO "events" VALUES(50,'item','todoitem','inserted','01a1fcd5-4c89-7ab1-a45f-871f7c9b2c97');
INSERT INTO "events" VALUES(51,'operation','todoitem','inserted','01a1fcd5-4c89-7ab1-a45f-871f7c9b2c97');
INSERT INTO "events" VALUES(52,'run',NULL,NULL,NULL);
INSERT INTO "events" VALUES(53,'run',NULL,NULL,NULL);
CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
INSERT INTO "grdb_migrations" VALUES('1');
INSERT INTO "grdb_migrations" VALUES('2');
INSERT INTO "grdb_migrations" VALUES('3');
INSERT INTO "grdb_migrations" VALUES('4');
CREATE TABLE held_versions (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  item INTEGER NOT NULL REFERENCES items(rowid) ON DELETE CASCADE,
  version TEXT NOT NULL
) STRICT;
INSERT INTO "held_versions" VALUES(1,1,'yCE+IAVbGbb+acGglhG96A==');
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
, server_version TEXT) STRICT;
INSERT INTO "history" VALUES(1,1795243189669,'write','client',1,'synced','01a1fcd5-25a5-7abe-bc2e-66b3263b347a','{}','{"text":"synced","rank":1.50}','Inserted.',1,NULL,NULL);
INSERT INTO "history" VALUES(2,1795243189721,'write','client',1,'changed','01a1fcd5-25d9-7a66-a984-c957533671eb','{}','{"text":"changed","rank":1.50}','Inserted.',1,NULL,NULL);
INSERT INTO "history" VALUES(3,1795243189769,'write','client',1,'deleted','01a1fcd5-2609-762b-9a3b-318f98f73c29','{}','{"text":"deleted","rank":1.50}','Inserted.',1,NULL,NULL);
INSERT INTO "history" VALUES(4,1795243189801,'write','client',1,'fought','01a1fcd5-2629-77d4-a876-69efbe7b009e','{}','{"text":"fought","rank":1.50}','Inserted.',1,NULL,NULL);
INSERT INTO "history" VALUES(5,1795243190154,'sent','engine',1,'synced','01a1fcd5-25a5-7abe-bc2e-66b3263b347a','{"text":"synced","rank":1.50}','{"text":"synced","rank":1.50}','The backend has it.',0,NULL,NULL);
INSERT INTO "history" VALUES(6,1795243190157,'sent','engine',1,'changed','01a1fcd5-25d9-7a66-a984-c957533671eb','{"text":"changed","rank":1.50}','{"text":"changed","rank":1.50}','The backend has it.',0,NULL,NULL);
INSERT INTO "history" VALUES(7,1795243190169,'sent','engine',1,'deleted','01a1fcd5-2609-762b-9a3b-318f98f73c29','{"text":"deleted","rank":1.50}','{"text":"deleted","rank":1.50}','The backend has it.',0,NULL,NULL);
INSERT INTO "history" VALUES(8,1795243190171,'sent','engine',1,'fought','01a1fcd5-2629-77d4-a876-69efbe7b009e','{"text":"fought","rank":1.50}','{"text":"fought","rank":1.50}','The backend has it.',0,NULL,NULL);
INSERT INTO "history" VALUES(9,1795243194085,'write','client',1,'fought','01a1fcd5-36e5-755d-b941-a375883e3c6c','{"text":"fought","rank":1.50}','{"text":"mine","rank":1.50}','Changed text.',1,NULL,NULL);
INSERT INTO "history" VALUES(10,1795243194398,'conflict','engine',1,'fought','01a1fcd5-36e5-755d-b941-a375883e3c6c','{"text":"mine","rank":1.50}','{"text":"theirs","rank":1.50}','It was changed on the backend and here.',0,NULL,NULL);
INSERT INTO "history" VALUES(11,1795243199473,'write','client',1,'changed','01a1fcd5-4bf1-7743-a15f-88edec2cc58c','{"text":"changed","rank":1.50}','{"text":"changed twice","rank":1.50}','Changed text.',1,NULL,NULL);
INSERT INTO "history" VALUES(12,1795243199577,'write','client',1,'deleted','01a1fcd5-4c59-78ce-93b3-b8d08c940113','{"text":"deleted","rank":1.50}',NULL,'Deleted.',1,NULL,NULL);
INSERT INTO "history" VALUES(13,1795243199625,'write','client',1,'inserted','01a1fcd5-4c89-7ab1-a45f-871f7c9b2c97','{}','{"text":"new"}','Inserted.',1,NULL,NULL);
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
INSERT INTO "items" VALUES(1,1,'synced','{"text":"synced","rank":1.50}',1795243190153,1795243190154,'MQ==',0,'MQ==','2026-11-21T06:39:50.153Z',0,NULL,1,NULL);
INSERT INTO "items" VALUES(2,1,'changed','{"text":"changed twice","rank":1.50}',1795243190156,1795243199473,'LusEvpXmiR3PllcdnQbwSw==',0,'MQ==','2026-11-21T06:39:50.156Z',0,'{"text":"changed","rank":1.50}',2,6);
INSERT INTO "items" VALUES(3,1,'deleted','{"text":"deleted","rank":1.50}',1795243190158,1795243199577,'GpaLX7CLUYkjNFeBsz9WLA==',1,'MQ==','2026-11-21T06:39:50.158Z',0,'{"text":"deleted","rank":1.50}',3,7);
INSERT INTO "items" VALUES(4,1,'fought','{"text":"mine","rank":1.50}',1795243190170,1795243194085,'yPlRbryEIk1RvC+bmaeUWg==',0,'Mg==','2026-11-21T06:39:54.169Z',0,'{"text":"theirs","rank":1.50}',5,5);
INSERT INTO "items" VALUES(5,1,'inserted','{"text":"new"}',1795243199625,1795243199625,'yolMDvzDkcNqz/QZLbA1kA==',0,NULL,NULL,0,NULL,0,8);
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
, may_arrive_late INTEGER NOT NULL DEFAULT 0, waits_for INTEGER) STRICT;
INSERT INTO "operations" VALUES(1,'01a1fcd5-25a5-7abe-bc2e-66b3263b347a',1,'synced','insert','done',NULL,3,NULL,NULL,'["text","rank"]','{"text":"synced","rank":1.50}',0,'[]',2,0,0,NULL,NULL,'client','synced',1,1795243189669,1795243190142,1795243190142,NULL,1795243190154,201,NULL,NULL,0,NULL);
INSERT INTO "operations" VALUES(2,'01a1fcd5-25d9-7a66-a984-c957533671eb',1,'changed','insert','done',NULL,3,NULL,NULL,'["text","rank"]','{"text":"changed","rank":1.50}',0,'[]',2,0,0,NULL,NULL,'client','changed',1,1795243189721,1795243190156,1795243190156,NULL,1795243190157,201,NULL,NULL,0,NULL);
INSERT INTO "operations" VALUES(3,'01a1fcd5-2609-762b-9a3b-318f98f73c29',1,'deleted','insert','done',NULL,3,NULL,NULL,'["text","rank"]','{"text":"deleted","rank":1.50}',0,'[]',2,0,0,NULL,NULL,'client','deleted',1,1795243189769,1795243190158,1795243190158,NULL,1795243190169,201,NULL,NULL,0,NULL);
INSERT INTO "operations" VALUES(4,'01a1fcd5-2629-77d4-a876-69efbe7b009e',1,'fought','insert','done',NULL,3,NULL,NULL,'["text","rank"]','{"text":"fought","rank":1.50}',0,'[]',2,0,0,NULL,NULL,'client','fought',1,1795243189801,1795243190170,1795243190170,NULL,1795243190171,201,NULL,NULL,0,NULL);
INSERT INTO "operations" VALUES(5,'01a1fcd5-36e5-755d-b941-a375883e3c6c',1,'fought','update','conflict','It was changed on the backend and here.',3,'MQ==','{"text":"fought","rank":1.50}','["text"]','{"text":"mine"}',0,'[]',2,0,0,NULL,NULL,'client','mine',1,1795243194085,1795243194392,1795243194392,NULL,NULL,412,NULL,NULL,0,NULL);
INSERT INTO "operations" VALUES(6,'01a1fcd5-4bf1-7743-a15f-88edec2cc58c',1,'changed','update','waiting','Failed to connect to 127.0.0.1 port 18998 after 0 ms: Couldn''t connect to server',3,'MQ==','{"text":"changed","rank":1.50}','["text"]','{"text":"changed twice"}',0,'[]',2,0,0,NULL,NULL,'client','changed twice',1,1795243199473,1795243199494,1795243199494,1795243200853,NULL,NULL,'Failed to connect to 127.0.0.1 port 18998 after 0 ms: Couldn''t connect to server',NULL,0,NULL);
INSERT INTO "operations" VALUES(7,'01a1fcd5-4c59-78ce-93b3-b8d08c940113',1,'deleted','delete','queued',NULL,1,'MQ==','{"text":"deleted","rank":1.50}','[]',NULL,0,'[]',2,0,0,NULL,NULL,'client','deleted',0,1795243199577,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL);
INSERT INTO "operations" VALUES(8,'01a1fcd5-4c89-7ab1-a45f-871f7c9b2c97',1,'inserted','insert','queued',NULL,1,NULL,NULL,'["text"]','{"text":"new"}',0,'[]',2,0,0,NULL,NULL,'client','new',0,1795243199625,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL);
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
INSERT INTO "runs" VALUES(1,'4fef973d85fdef96','sync','complete',NULL,1795243187870,1795243187925,'[]',0,0,0,0,0);
INSERT INTO "runs" VALUES(3,'5aa0569a88252f21','push','complete',NULL,1795243190117,1795243190172,'["done 01a1fcd5-25a5-7abe-bc2e-66b3263b347a","done 01a1fcd5-25d9-7a66-a984-c957533671eb","done 01a1fcd5-2609-762b-9a3b-318f98f73c29","done 01a1fcd5-2629-77d4-a876-69efbe7b009e"]',4,4,0,0,0);
INSERT INTO "runs" VALUES(5,'63e5b1abd3520cb5','sync','complete',NULL,1795243193953,1795243193985,'[]',0,0,0,0,0);
INSERT INTO "runs" VALUES(7,'abbe5e969ef60a67','sync','completeWithErrors','1 of the changes need a person''s decision.',1795243194361,1795243194445,'["conflict 01a1fcd5-36e5-755d-b941-a375883e3c6c"]',1,0,1,0,1);
INSERT INTO "runs" VALUES(9,'977f71c1ac2ae2f6','push','complete',NULL,1795243199482,1795243199519,'["waiting 01a1fcd5-4bf1-7743-a15f-88edec2cc58c"]',1,0,0,0,2);
INSERT INTO "runs" VALUES(11,'0585bd632a60a1b8','push','offline','Failed to connect to 127.0.0.1 port 18998 after 0 ms: Couldn''t connect to server',1795243199950,1795243199958,NULL,0,0,0,0,0);
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
INSERT INTO "table_counters" VALUES(1,1795243199625,4,-1);
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
, parents TEXT NOT NULL DEFAULT '[]', preserves_history INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "tables" VALUES(1,'todoitem','todoitem','string',1,'local','local','ask','ask',0,'keyset','{"rank":"rank","text":"text"}',1795243194444,NULL,'[]',0);
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
INSERT INTO "tokens" VALUES(1,1,'','','2026-11-21T06:39:54.169Z','fought',1,1795243194444);
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
CREATE INDEX operations_due ON operations(seq)
  WHERE state IN ('queued', 'waiting', 'unknown') AND successor_of IS NULL
    AND waits_for IS NULL;
CREATE INDEX operations_timed ON operations(next_attempt_at)
  WHERE state IN ('waiting', 'unknown') AND successor_of IS NULL AND waits_for IS NULL;
CREATE INDEX operations_held ON operations(waits_for) WHERE waits_for IS NOT NULL;
CREATE TRIGGER operation_released AFTER UPDATE OF kind, closed_at ON operations
  WHEN new.closed_at IS NOT NULL OR old.kind <> new.kind
BEGIN
  UPDATE operations
    SET waits_for = NULL, state = 'queued', reason = NULL, revision = revision + 1
    WHERE waits_for = new.seq;
END;
CREATE VIEW MS_TableOperations AS
  SELECT o.seq AS id, o.item_id AS itemId, t.name AS "table", 0 AS tableKind,
    CASE WHEN o.kind <> 'delete'
      THEN json_object('type', CASE o.kind WHEN 'insert' THEN 0 ELSE 1 END)
    WHEN o.base_version IS NULL THEN json_object('type', 2, 'item',
      json_set(coalesce(o.base_row, '{}'), '$.id', o.item_id))
    ELSE json_object('type', 2, 'item', json_set(coalesce(o.base_row, '{}'),
      '$.id', o.item_id, '$.version', o.base_version)) END AS properties,
    o.created_at
  FROM operations o JOIN tables t ON t.id = o.table_id WHERE o.closed_at IS NULL;
CREATE VIEW MS_TableOperationErrors AS
  SELECT id, operationId, tableKind, CASE
    WHEN item IS NULL AND server_item IS NULL THEN properties
    WHEN item IS NULL THEN json_insert(properties, '$.serverItem', json(server_item))
    WHEN server_item IS NULL THEN json_insert(properties, '$.item', json(item))
    ELSE json_insert(properties, '$.item', json(item), '$.serverItem', json(server_item))
    END AS properties, created_at
  FROM (SELECT o.op_id AS id, o.seq AS operationId, 0 AS tableKind, json_object(
      'code', CASE o.state WHEN 'conflict' THEN -1303 ELSE -1301 END,
      'domain', 'com.Microsoft.MicrosoftAzureMobile.ErrorDomain',
      'description', coalesce(o.reason, ''), 'table', t.name,
      'operation', CASE o.kind WHEN 'insert' THEN 0 WHEN 'delete' THEN 2 ELSE 1 END,
      'itemId', o.item_id, 'statusCode', o.last_status) AS properties,
    CASE WHEN i.deleted = 0 THEN json_set(i.columns, '$.id', i.id) END AS item,
    CASE WHEN i.server_version IS NULL THEN json_set(i.shadow_columns, '$.id', i.id)
      ELSE json_set(i.shadow_columns, '$.id', i.id, '$.version', i.server_version,
        '$.deleted', json(CASE i.server_deleted WHEN 1 THEN 'true' ELSE 'false' END))
      END AS server_item,
    o.created_at
    FROM operations o JOIN tables t ON t.id = o.table_id
    LEFT JOIN items i ON i.table_id = o.table_id AND i.id = o.item_id
    WHERE o.state IN ('conflict', 'quarantined'));
CREATE VIEW MS_TableConfig AS
  SELECT CAST(k.id AS TEXT) AS id, t.name AS "table", k.query_id AS key, 0 AS keyType,
    coalesce(strftime('%Y-%m-%dT%H:%M:%fZ', k.updated_at), k.updated_at) AS value,
    coalesce(k.last_run_at, 0) AS created_at
  FROM tokens k JOIN tables t ON t.id = k.table_id WHERE k.updated_at IS NOT NULL;
CREATE INDEX items_by_creation ON items(table_id, created_at);
CREATE INDEX operations_by_reason ON operations(state, reason, seq, table_id)
  WHERE reason IS NOT NULL;
CREATE INDEX history_decisions ON history(op_id)
  WHERE undoable = 1 AND kind IN ('resolved', 'discarded');
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('runs',12);
INSERT INTO "sqlite_sequence" VALUES('events',53);
INSERT INTO "sqlite_sequence" VALUES('operations',8);
INSERT INTO "sqlite_sequence" VALUES('history',13);
INSERT INTO "sqlite_sequence" VALUES('held_versions',4);
COMMIT;
