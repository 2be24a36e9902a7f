/**
 * The steps that build the layout. A released step never changes; the file's `user_version` counts the steps it has.
 */
export const MIGRATIONS: readonly string[] = [
  `CREATE TABLE task (
     id TEXT PRIMARY KEY,
     status TEXT NOT NULL,
     started_at TEXT NOT NULL,
     body TEXT NOT NULL
   ) STRICT;
   CREATE INDEX task_by_status ON task (status);
   CREATE INDEX task_by_start ON task (started_at);
   CREATE TABLE audit (
     id INTEGER PRIMARY KEY,
     time TEXT NOT NULL,
     caller TEXT NOT NULL,
     action TEXT NOT NULL,
     ref TEXT NOT NULL,
     outcome TEXT NOT NULL,
     message TEXT NOT NULL
   ) STRICT;
   CREATE INDEX audit_by_ref ON audit (ref, id)`,
  `CREATE TABLE folder (path TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
   CREATE TABLE folder_member (
     ref TEXT PRIMARY KEY,
     path TEXT NOT NULL REFERENCES folder (path) ON UPDATE CASCADE ON DELETE CASCADE
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX folder_member_by_path ON folder_member (path);
   CREATE TABLE folder_version (version INTEGER NOT NULL) STRICT;
   INSERT INTO folder_version VALUES (1)`,
  `CREATE TABLE source (
     name TEXT PRIMARY KEY,
     kind TEXT NOT NULL,
     uri TEXT NOT NULL,
     description TEXT NOT NULL
   ) STRICT, WITHOUT ROWID`,
  `ALTER TABLE task ADD COLUMN members TEXT`,
  `ALTER TABLE task ADD COLUMN kind TEXT NOT NULL DEFAULT '';
   ALTER TABLE task ADD COLUMN log TEXT NOT NULL DEFAULT '';
   ALTER TABLE task ADD COLUMN journal TEXT;
   UPDATE task SET kind = json_extract(body, '$.kind'), log = json_extract(body, '$.log'), body = json_remove(body, '$.log');
   CREATE TABLE task_member (
     id INTEGER PRIMARY KEY,
     task TEXT NOT NULL REFERENCES task (id) ON DELETE CASCADE,
     ref TEXT NOT NULL,
     status TEXT NOT NULL,
     error TEXT,
     next_task TEXT,
     UNIQUE (task, ref)
   ) STRICT;
   INSERT INTO task_member (task, ref, status, error, next_task)
     SELECT task.id, json_extract(member.value, '$.ref'), json_extract(member.value, '$.status'),
       json_extract(member.value, '$.error'), json_extract(member.value, '$.task')
     FROM task, json_each(task.members) AS member WHERE task.members IS NOT NULL ORDER BY task.id, member.key;
   ALTER TABLE task DROP COLUMN members;
   CREATE INDEX task_by_kind ON task (kind, status)`,
  `ALTER TABLE audit ADD COLUMN kind TEXT NOT NULL DEFAULT 'action';
   ALTER TABLE audit ADD COLUMN token TEXT NOT NULL DEFAULT '';
   ALTER TABLE audit ADD COLUMN address TEXT NOT NULL DEFAULT '';
   ALTER TABLE audit ADD COLUMN route TEXT NOT NULL DEFAULT '';
   ALTER TABLE audit ADD COLUMN status INTEGER;
   ALTER TABLE audit ADD COLUMN code TEXT NOT NULL DEFAULT '';
   CREATE INDEX audit_by_kind ON audit (kind, id);
   CREATE INDEX audit_by_time ON audit (time);
   CREATE TRIGGER audit_is_append_only BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'entries of the audit log are never changed'); END;
   CREATE TABLE api_token (
     id TEXT PRIMARY KEY,
     name TEXT NOT NULL UNIQUE,
     hash TEXT NOT NULL,
     creator TEXT NOT NULL,
     scope TEXT NOT NULL,
     actions TEXT NOT NULL,
     created_at TEXT NOT NULL,
     expires_at TEXT NOT NULL,
     last_used_at TEXT
   ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE webhook (
     id TEXT PRIMARY KEY,
     created_at TEXT NOT NULL,
     body TEXT NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE webhook_event (
     number INTEGER PRIMARY KEY AUTOINCREMENT,
     type TEXT NOT NULL,
     time TEXT NOT NULL,
     body TEXT NOT NULL
   ) STRICT;
   CREATE INDEX webhook_event_by_time ON webhook_event (time)`,
  `CREATE TABLE shutdown_time (
     number INTEGER PRIMARY KEY AUTOINCREMENT,
     key TEXT NOT NULL UNIQUE,
     milliseconds INTEGER NOT NULL
   ) STRICT`,
  // A member is one object. The objects of the present members are not known, so they are bound to those that have
  // their refs now.
  `CREATE TABLE folder_membership (
     ref TEXT NOT NULL,
     uid TEXT NOT NULL,
     path TEXT NOT NULL REFERENCES folder (path) ON UPDATE CASCADE ON DELETE CASCADE,
     state TEXT NOT NULL CHECK (state IN ('member', 'ending', 'unbound')),
     PRIMARY KEY (ref, uid)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX folder_membership_by_path ON folder_membership (path);
   INSERT INTO folder_membership (ref, uid, path, state) SELECT ref, '', path, 'unbound' FROM folder_member;
   DROP TABLE folder_member;
   ALTER TABLE folder_version ADD COLUMN bound_since TEXT;
   UPDATE folder_version SET version = version + 1, bound_since = strftime('%Y-%m-%dT%H:%M:%fZ', 'now')`,
  // Holds the pages of the reserve while it is built.
  `CREATE TABLE reserve (id INTEGER PRIMARY KEY, space BLOB NOT NULL) STRICT`,
  `CREATE TABLE reply (
     scope TEXT PRIMARY KEY,
     caller TEXT NOT NULL,
     request TEXT NOT NULL,
     replica TEXT NOT NULL,
     run TEXT NOT NULL,
     claimed_at TEXT NOT NULL,
     expires_at TEXT NOT NULL,
     status INTEGER,
     sealed TEXT
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX reply_by_caller ON reply (caller, expires_at);
   CREATE INDEX reply_by_expiry ON reply (expires_at)`,
  `ALTER TABLE task_member ADD COLUMN uid TEXT`,
  `CREATE TABLE ssh_key (
     owner TEXT NOT NULL,
     id TEXT NOT NULL,
     name TEXT NOT NULL,
     key TEXT NOT NULL,
     added_at TEXT NOT NULL,
     PRIMARY KEY (owner, id)
   ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE saved_view (
     owner TEXT NOT NULL,
     id TEXT NOT NULL,
     name TEXT NOT NULL,
     address TEXT NOT NULL,
     columns TEXT,
     rank INTEGER NOT NULL,
     saved_at TEXT NOT NULL,
     PRIMARY KEY (owner, id)
   ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE added_context (
     number INTEGER PRIMARY KEY AUTOINCREMENT,
     name TEXT NOT NULL UNIQUE,
     kind TEXT NOT NULL,
     settings TEXT NOT NULL,
     creator TEXT NOT NULL,
     added_at TEXT NOT NULL
   ) STRICT`,
  `CREATE TABLE schedule (
     owner TEXT NOT NULL,
     id TEXT NOT NULL,
     body TEXT NOT NULL,
     PRIMARY KEY (owner, id)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE scheduled_snapshots (
     owner TEXT NOT NULL,
     id TEXT NOT NULL,
     body TEXT NOT NULL,
     PRIMARY KEY (owner, id)
   ) STRICT, WITHOUT ROWID`,
  // The key of a folder is its path, which may change; roles are for the folder.
  `ALTER TABLE folder ADD COLUMN id TEXT;
   UPDATE folder SET id = lower(hex(randomblob(16)));
   CREATE UNIQUE INDEX folder_by_id ON folder (id);
   CREATE TABLE role_assignment (
     id TEXT PRIMARY KEY,
     key TEXT NOT NULL UNIQUE,
     created_at TEXT NOT NULL,
     version INTEGER NOT NULL,
     body TEXT NOT NULL
    ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE message_channel (
     owner TEXT NOT NULL,
     id TEXT NOT NULL,
     body TEXT NOT NULL,
     PRIMARY KEY (owner, id)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE message_rule (
    owner TEXT NOT NULL,
    id TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (owner, id)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE backup_target (
     owner TEXT NOT NULL,
     id TEXT NOT NULL,
     body TEXT NOT NULL,
     PRIMARY KEY (owner, id)
   ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE login_session (id TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT, WITHOUT ROWID;
   CREATE TABLE account (id TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT, WITHOUT ROWID`,
  `ALTER TABLE api_token ADD COLUMN agent TEXT;
   ALTER TABLE api_token ADD COLUMN stopped INTEGER`,
  'ALTER TABLE api_token ADD COLUMN addresses TEXT',
  // The entries of earlier releases have no hash. `audit_anchor` has the newest deleted entry of each kind.
  `ALTER TABLE audit ADD COLUMN previous_action BLOB;
   ALTER TABLE audit ADD COLUMN previous_request BLOB;
   ALTER TABLE audit ADD COLUMN hash BLOB;
   CREATE TABLE audit_anchor (kind TEXT PRIMARY KEY, number INTEGER NOT NULL, hash BLOB NOT NULL) STRICT, WITHOUT ROWID;
   CREATE TABLE audit_reader (name TEXT PRIMARY KEY, number INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
  `CREATE TABLE device_login (id TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT, WITHOUT ROWID;
   ALTER TABLE api_token ADD COLUMN device INTEGER`,
  'ALTER TABLE webhook_event ADD COLUMN about TEXT',
  'CREATE TABLE user_groups (id TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT, WITHOUT ROWID',
];
