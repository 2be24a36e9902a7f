import { readFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import { isRecord } from '../config/is-record.js';
import type { AddressBlocks, StoredBlocks } from './address-blocks.js';

const DELAY_MS = 1_000;
const fileIn = (dataDir: string): string => join(dataDir, 'blocks.json');

/** The blocks of the last run; undefined if there are none, or they can't be read. */
export function readBlocks(dataDir: string, log: Pick<Logger, 'warn'>): StoredBlocks | undefined {
  const path = fileIn(dataDir);
  try {
    const stored = JSON.parse(readFileSync(path, 'utf8')) as unknown;
    if (isStored(stored)) return stored;
    throw new Error('it has another form');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    log.warn({ err: error, path }, 'the blocks of the last run could not be read; programs that have them keep them');
    return undefined;
  }
}

const isStored = (value: unknown): value is StoredBlocks =>
  isRecord(value) &&
  typeof value.gateway === 'string' &&
  Number.isSafeInteger(value.position) &&
  Number.isSafeInteger(value.nextId) &&
  isRecord(value.readers) &&
  [value.blocks, value.ended].every((list) => Array.isArray(list) && list.every(isRecord));

/**
 * The exported blocks on disk, in `blocks.json`: after a restart, programs get the ends of the blocks that they have.
 * Written a second after a change, and at shutdown.
 */
export class BlocksFile implements OnApplicationShutdown {
  private readonly path: string;
  private timer: NodeJS.Timeout | undefined;
  private saving: Promise<void> = Promise.resolve();

  constructor(
    private readonly blocks: AddressBlocks,
    dataDir: string,
    private readonly log: Pick<Logger, 'error'>,
  ) {
    this.path = fileIn(dataDir);
    blocks.onChange = () => {
      this.timer ??= setTimeout(() => void this.save(), DELAY_MS).unref();
    };
  }

  async onApplicationShutdown(): Promise<void> {
    this.blocks.onChange = () => undefined;
    const isChanged = this.timer !== undefined;
    clearTimeout(this.timer);
    if (isChanged) void this.save();
    await this.saving;
  }

  private save(): Promise<void> {
    this.timer = undefined;
    this.saving = this.saving
      .then(() => this.write())
      .catch((error: unknown) => this.log.error({ err: error, path: this.path }, 'the blocks could not be written'));
    return this.saving;
  }

  private async write(): Promise<void> {
    const partial = `${this.path}.partial`;
    const file = await open(partial, 'w', 0o600);
    try {
      await file.writeFile(JSON.stringify(this.blocks.stored()));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(partial, this.path);
  }
}
