import { randomUUID } from 'node:crypto';
import { type FileHandle, open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { MatrixError } from '@headgate/matrix-protocol';
import type { OnApplicationShutdown } from '@nestjs/common';
import { type JournaledAction, type OperatorEntry, readLines } from './operator-entry.js';

/** It has addresses and user IDs: only the service's own account may read it. */
const FILE_MODE = 0o600;
const MAX_FILE_BYTES = 4 * 1024 * 1024;
/** Entries in memory, which the API shows. */
const MAX_SHOWN = 1_000;

export interface OperatorJournalOptions {
  /** Of the file, before it becomes the previous one. Both together are the whole journal. */
  readonly maxBytes?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/**
 * The actions of operators, in `operators.jsonl` of the data directory. An action is on disk before it is carried out,
 * and its result after it, so that no action is missing after a crash. Actions run one at a time.
 */
export class OperatorJournal implements OnApplicationShutdown {
  private entries: OperatorEntry[] = [];
  private file: FileHandle | undefined;
  private bytes = 0;
  /** Whether the file may end in a part of a line, which the next one must not continue. */
  private isTorn = false;
  private last: Promise<unknown> = Promise.resolve();
  private opened: Promise<void> | undefined;
  private readonly maxBytes: number;
  private readonly now: () => number;

  constructor(
    private readonly folder: string,
    { maxBytes = MAX_FILE_BYTES, now = Date.now }: OperatorJournalOptions = {},
  ) {
    this.maxBytes = maxBytes;
    this.now = now;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.last;
    await this.file?.close();
    this.file = undefined;
  }

  /** The latest entries, the newest first. */
  async latest(limit: number): Promise<OperatorEntry[]> {
    await this.inTurn(() => this.open());
    return this.entries.slice(-limit).reverse();
  }

  /**
   * Carries out an action after it is on disk.
   * @param work the change; an error of it is recorded and thrown
   * @param hasChanged whether the result of the work is a change
   * @throws MatrixError 503 when the journal can't be written: nothing is carried out then
   */
  perform<Result>(
    action: JournaledAction,
    work: (previous: readonly OperatorEntry[]) => Result | Promise<Result>,
    hasChanged: (result: Result) => boolean = () => true,
  ): Promise<Result> {
    return this.inTurn(async () => {
      const entry: OperatorEntry = { id: randomUUID(), time: new Date(this.now()).toISOString(), ...action };
      await this.append(entry).catch((error: unknown) => {
        const reason = (error as NodeJS.ErrnoException).code ?? String(error);
        throw new MatrixError(503, 'M_UNKNOWN', `The journal cannot be written (${reason}); nothing was changed.`);
      });
      const previous = this.entries;
      this.entries = [...previous.slice(1 - MAX_SHOWN), entry];
      try {
        const result = await work(previous);
        await this.settle(entry, hasChanged(result) ? 'done' : 'nothing');
        return result;
      } catch (error) {
        await this.settle(entry, 'failed');
        throw error;
      }
    });
  }

  /** The action has happened: a disk that is full now must not turn it into an error. */
  private async settle(entry: OperatorEntry, result: NonNullable<OperatorEntry['result']>): Promise<void> {
    entry.result = result;
    await this.append({ id: entry.id, result }).catch(() => undefined);
  }

  private inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.last.then(work);
    this.last = done.catch(() => undefined);
    return done;
  }

  private async append(line: object): Promise<void> {
    await this.open();
    const text = `${this.isTorn ? '\n' : ''}${JSON.stringify(line)}\n`;
    await this.makeRoom(Buffer.byteLength(text));
    this.isTorn = true;
    await this.file!.appendFile(text);
    await this.file!.datasync();
    this.isTorn = false;
    this.bytes += Buffer.byteLength(text);
  }

  private async makeRoom(bytes: number): Promise<void> {
    if (this.bytes === 0 || this.bytes + bytes <= this.maxBytes) return;
    await this.file!.close();
    this.file = undefined;
    await rename(this.path, this.previousPath);
    this.file = await open(this.path, 'a', FILE_MODE);
    [this.bytes, this.isTorn] = [0, false];
  }

  /** Reads what previous processes have written, once. A failure is tried again with the next call. */
  private open(): Promise<void> {
    return (this.opened ??= this.load().catch((error: unknown) => {
      this.opened = undefined;
      throw error;
    }));
  }

  private async load(): Promise<void> {
    const [previous, present] = [await textOf(this.previousPath), await textOf(this.path)];
    this.entries = readLines(`${previous}\n${present}`).slice(-MAX_SHOWN);
    this.file ??= await open(this.path, 'a', FILE_MODE);
    this.bytes = Buffer.byteLength(present);
    this.isTorn = present !== '' && !present.endsWith('\n');
  }

  private get path(): string {
    return join(this.folder, 'operators.jsonl');
  }

  private get previousPath(): string {
    return join(this.folder, 'operators.1.jsonl');
  }
}

/** The text of a file; empty without one. */
async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
