import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, rmSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Clock } from '@headgate/clock';
import type { Database } from '../database.js';

const UNUSED_LIFETIME_MS = 24 * 60 * 60 * 1000;

export interface StoredMedia {
  media_id: string;
  owner: string;
  content_type: string | null;
  filename: string | null;
  /** Null for an ID without content yet. */
  size: number | null;
  expires_at: number | null;
}

/** Media as files next to the database. An object exists only once all of it is on the disk. */
export class Media {
  private readonly folder: string;

  constructor(
    private readonly db: Database,
    dataDir: string,
    private readonly clock: Clock,
  ) {
    this.folder = join(dataDir, 'media');
    if (mkdirSync(this.folder, { recursive: true, mode: 0o700 }) !== undefined) syncFolder(dataDir);
    this.sweep();
  }

  /** Reserves an ID for content that is uploaded later, within a day. */
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

  /**
   * Stores content under a reserved ID or a new one. After an error of the stream, which it rejects with, nothing
   * remains.
   */
  async store(owner: string, body: Readable, metadata: { type?: string; name?: string; id?: string }): Promise<string> {
    const mediaId = metadata.id ?? newMediaId();
    const partial = join(this.folder, `.${mediaId}.${randomBytes(6).toString('hex')}`);
    try {
      const size = await writeDurably(partial, body);
      await rename(partial, this.path(mediaId));
      syncFolder(this.folder);
      const sql = `INSERT INTO media VALUES (?, ?, ?, ?, ?, NULL) ON CONFLICT DO UPDATE SET
        content_type = excluded.content_type, filename = excluded.filename, size = excluded.size, expires_at = NULL`;
      this.db.run(sql, mediaId, owner, metadata.type ?? null, metadata.name ?? null, size);
      return mediaId;
    } finally {
      await rm(partial, { force: true });
    }
  }

  /** Removes files of uploads that a crash interrupted. No client has their IDs. */
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

/** A new name of a file survives a crash only after its folder has been synced. */
function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
