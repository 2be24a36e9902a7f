import { appendFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { KEY_BYTES } from './frames.js';
import { LEVELS } from './levels.js';

const RECORD_BYTES = 2 * KEY_BYTES + 8;
const MAX_AGE_MS = LEVELS.at(-1)!.rangeMs;
const MAX_KEYS = 10;

/**
 * Which instance has the earlier rows of one that was moved, as records in a file: the new key, the former one, and the
 * time of the move. Records older than any row are dropped.
 */
export class CarriedKeys {
  private former: Map<string, string> | undefined;

  constructor(private readonly folder: string) {}

  /** The key itself, then the keys that the instance had before, newest first. */
  async keysOf(key: string, now: number): Promise<string[]> {
    const former = await this.load(now);
    const keys = [key];
    // An instance that moved there and back has its first key again.
    for (let next = former.get(key); next !== undefined && !keys.includes(next) && keys.length < MAX_KEYS;) {
      keys.push(next);
      next = former.get(next);
    }
    return keys;
  }

  /** @throws any error of the file system; the rows are then carried over until the service restarts */
  async add(from: string, to: string, now: number): Promise<void> {
    const former = await this.load(now);
    if (from === to || former.get(to) === from) return;
    former.set(to, from);
    const record = Buffer.alloc(RECORD_BYTES);
    record.write(to + from, 'latin1');
    record.writeDoubleLE(now, 2 * KEY_BYTES);
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    await appendFile(this.path, record, { mode: 0o600 });
  }

  private async load(now: number): Promise<Map<string, string>> {
    if (this.former) return this.former;
    const former = (this.former = new Map<string, string>());
    const bytes = await readFile(this.path).catch(() => Buffer.alloc(0));
    const kept: Buffer[] = [];
    for (let at = 0; at + RECORD_BYTES <= bytes.length; at += RECORD_BYTES) {
      const record = bytes.subarray(at, at + RECORD_BYTES);
      if (now - record.readDoubleLE(2 * KEY_BYTES) > MAX_AGE_MS) continue;
      kept.push(record);
      former.set(record.toString('latin1', 0, KEY_BYTES), record.toString('latin1', KEY_BYTES, 2 * KEY_BYTES));
    }
    // Also removes the half of a record that a kill has left, after which others could not be read.
    if (kept.length * RECORD_BYTES < bytes.length) await this.replace(Buffer.concat(kept)).catch(() => undefined);
    return former;
  }

  private async replace(bytes: Buffer): Promise<void> {
    await writeFile(`${this.path}.new`, bytes, { mode: 0o600 });
    await rename(`${this.path}.new`, this.path);
  }

  private get path(): string {
    return join(this.folder, 'carried');
  }
}
