/** The migrations of the database, in order. A released step never changes. */
export const schema: readonly string[] = [
  `
  CREATE TABLE secrets (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE accounts (
    user_id TEXT PRIMARY KEY, password_hash TEXT NOT NULL, created_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE devices (
    user_id TEXT NOT NULL REFERENCES accounts, device_id TEXT NOT NULL, display_name TEXT,
    created_at INTEGER NOT NULL, device_keys TEXT,
    PRIMARY KEY (user_id, device_id)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE tokens (
    digest TEXT PRIMARY KEY, user_id TEXT NOT NULL, device_id TEXT NOT NULL,
    FOREIGN KEY (user_id, device_id) REFERENCES devices ON DELETE CASCADE
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX tokens_of_device ON tokens (user_id, device_id);

  CREATE TABLE one_time_keys (
    user_id TEXT NOT NULL, device_id TEXT NOT NULL, algorithm TEXT NOT NULL, key_id TEXT NOT NULL,
    uploaded INTEGER PRIMARY KEY, content TEXT NOT NULL,
    UNIQUE (user_id, device_id, algorithm, key_id),
    FOREIGN KEY (user_id, device_id) REFERENCES devices ON DELETE CASCADE
  ) STRICT;

  CREATE TABLE fallback_keys (
    user_id TEXT NOT NULL, device_id TEXT NOT NULL, algorithm TEXT NOT NULL, key_id TEXT NOT NULL, content TEXT NOT NULL,
    PRIMARY KEY (user_id, device_id, algorithm),
    FOREIGN KEY (user_id, device_id) REFERENCES devices ON DELETE CASCADE
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE filters (
    user_id TEXT NOT NULL, filter_id INTEGER NOT NULL, canonical TEXT NOT NULL, content TEXT NOT NULL,
    PRIMARY KEY (user_id, filter_id), UNIQUE (user_id, canonical)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE account_data (
    user_id TEXT NOT NULL, scope TEXT NOT NULL, type TEXT NOT NULL, content TEXT NOT NULL,
    PRIMARY KEY (user_id, scope, type)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE tags (
    user_id TEXT NOT NULL, room_id TEXT NOT NULL, tag TEXT NOT NULL, content TEXT NOT NULL,
    PRIMARY KEY (user_id, room_id, tag)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE pushers (
    user_id TEXT NOT NULL, app_id TEXT NOT NULL, pushkey TEXT NOT NULL, content TEXT NOT NULL, token_digest TEXT NOT NULL,
    PRIMARY KEY (user_id, app_id, pushkey)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX pushers_of_token ON pushers (token_digest);

  CREATE TABLE rooms (room_id TEXT PRIMARY KEY, creator TEXT NOT NULL, version TEXT NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE events (
    seq INTEGER PRIMARY KEY, event_id TEXT NOT NULL UNIQUE, room_id TEXT NOT NULL REFERENCES rooms, type TEXT NOT NULL,
    state_key TEXT, sender TEXT NOT NULL, content TEXT NOT NULL, sent_at INTEGER NOT NULL, delay_id TEXT
  ) STRICT;
  CREATE INDEX events_of_room ON events (room_id, seq);

  CREATE TABLE state (
    room_id TEXT NOT NULL, type TEXT NOT NULL, state_key TEXT NOT NULL, event_id TEXT NOT NULL REFERENCES events (event_id),
    PRIMARY KEY (room_id, type, state_key)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE memberships (
    user_id TEXT NOT NULL, room_id TEXT NOT NULL REFERENCES rooms, membership TEXT NOT NULL,
    PRIMARY KEY (user_id, room_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX members_of_room ON memberships (room_id, membership);

  CREATE TABLE aliases (alias TEXT PRIMARY KEY, room_id TEXT NOT NULL, creator TEXT NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE transactions (
    user_id TEXT NOT NULL, device_id TEXT NOT NULL, path TEXT NOT NULL, answer TEXT NOT NULL,
    PRIMARY KEY (user_id, device_id, path)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE delayed_events (
    delay_id TEXT PRIMARY KEY, user_id TEXT NOT NULL, room_id TEXT NOT NULL, type TEXT NOT NULL, state_key TEXT,
    content TEXT NOT NULL, delay_ms INTEGER NOT NULL, running_since INTEGER NOT NULL, due_at INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'sent', 'cancelled', 'failed')),
    finalised_at INTEGER, event_id TEXT, error TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX delayed_pending ON delayed_events (due_at) WHERE status = 'pending';
  CREATE INDEX delayed_of_sender ON delayed_events (user_id, room_id, status);

  CREATE TABLE media (
    media_id TEXT PRIMARY KEY, owner TEXT NOT NULL, content_type TEXT, filename TEXT, size INTEGER, expires_at INTEGER
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE openid_tokens (
    digest TEXT PRIMARY KEY, user_id TEXT NOT NULL, expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE federation_transactions (
    origin TEXT NOT NULL, txn_id TEXT NOT NULL, answer TEXT NOT NULL,
    PRIMARY KEY (origin, txn_id)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  ALTER TABLE events ADD COLUMN txn_device TEXT;
  ALTER TABLE events ADD COLUMN txn_id TEXT;

  CREATE TABLE data_positions (user_id TEXT PRIMARY KEY, position INTEGER NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE deleted_account_data (
    user_id TEXT NOT NULL, scope TEXT NOT NULL, type TEXT NOT NULL, position INTEGER NOT NULL,
    PRIMARY KEY (user_id, scope, type)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  CREATE INDEX delayed_finished ON delayed_events (finalised_at) WHERE status <> 'pending';
  `,
];
