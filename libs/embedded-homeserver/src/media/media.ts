import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, rmSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { WallClock } from '../clock.js';
import type { Database } from '../database.js';

const UNUSED_LIFETIME_MS = 24 * 60 * 60 * 1000;

export interface StoredMedia {
  media_id: string;
  owner: string;
  content_type: string | null;
  filename: string | null;
  /** Null: an id that waits for its body. */
  size: number | null;
  expires_at: number | null;
}

/** Media as files beside the database. An object is known only once all of it is on the disk. */
export class Media {
  private readonly folder: string;

  constructor(
    private readonly db: Database,
    dataDir: string,
    private readonly clock: WallClock,
  ) {
    this.folder = join(dataDir, 'media');
    if (mkdirSync(this.folder, { recursive: true, mode: 0o700 }) !== undefined) syncFolder(dataDir);
    this.sweep();
  }

  /** Reserves an id for a body that comes later, within a day. */
  reserve(owner: string): { mediaId: string; expiresAt: number } {
    const mediaId = newMediaId();
    const expiresAt = this.clock.now() + UNUSED_LIFETIME_MS;
    this.db.run('DELETE FROM media WHERE size IS NULL AND expires_at <= ?', this.clock.now());
    this.db.run('INSERT INTO media VALUES (?, ?, NULL, NULL, NULL, ?)', mediaId, owner, expiresAt);
    return { mediaId, expiresAt };
  }

  find(mediaId: string): StoredMedia | undefined {
    const sql = 'SELECT * FROM media WHERE media_id = ? AND (expires_at IS NULL OR expires_at > ?)';
    return this.db.get<StoredMedia>(sql, mediaId, this.clock.now());
  }

  path(mediaId: string): string {
    return join(this.folder, mediaId);
  }

  /** Stores a body, under a reserved id or a new one. Rejects with the stream's error; nothing is left behind then. */
  async store(owner: string, body: Readable, about: { type?: string; name?: string; id?: string }): Promise<string> {
    const mediaId = about.id ?? newMediaId();
    const partial = join(this.folder, `.${mediaId}.${randomBytes(6).toString('hex')}`);
    try {
      const size = await writeDurably(partial, body);
      await rename(partial, this.path(mediaId));
      syncFolder(this.folder);
      const sql = `INSERT INTO media VALUES (?, ?, ?, ?, ?, NULL) ON CONFLICT DO UPDATE SET
        content_type = excluded.content_type, filename = excluded.filename, size = excluded.size, expires_at = NULL`;
      this.db.run(sql, mediaId, owner, about.type ?? null, about.name ?? null, size);
      return mediaId;
    } finally {
      await rm(partial, { force: true });
    }
  }

  /** Removes what a crash in the middle of an upload has left: nobody was told of it, and nobody can ask for it. */
  private sweep(): void {
    const sql = 'SELECT 1 FROM media WHERE media_id = ? AND size IS NOT NULL';
    for (const name of readdirSync(this.folder)) {
      if (this.db.get(sql, name) === undefined) rmSync(join(this.folder, name), { force: true });
    }
  }
}

const newMediaId = (): string => randomBytes(18).toString('base64url');

async function writeDurably(path: string, body: Readable): Promise<number> {
  const file = await open(path, 'wx', 0o600);
  try {
    let size = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      await file.appendFile(chunk);
      size += chunk.length;
    }
    await file.sync();
    return size;
  } finally {
    await file.close();
  }
}

/** Until its folder is on the disk too, a file has no name that survives. */
function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
