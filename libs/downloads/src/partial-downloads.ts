import { createHash, randomUUID, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, writeFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock } from '@headgate/domain-contracts';

/** A partial download without progress for this long is removed. */
export const KEEP_PARTIAL_MS = 24 * 60 * 60_000;
/** How many interrupted downloads are kept. */
const MAX_KEPT = 4;
/** The journal is written once per this many bytes. A power failure or a kill loses no more of a download. */
const JOURNAL_STEP_BYTES = 64 * 1024 ** 2;
const KEY_HEX_DIGITS = 32;

export type DigestAlgorithm = 'sha256' | 'sha512';

/** The state of the bytes on the disk. */
interface DownloadRecord {
  /** The ETag or the time of the last change of the file on the server. */
  readonly validator: string;
  readonly totalBytes?: number;
  /** How many bytes are certainly on the disk. */
  readonly bytes: number;
  readonly updatedAt: number;
}

interface PartialFileOptions {
  readonly algorithms: readonly DigestAlgorithm[];
  readonly clock: Clock;
  /** Called when the download has ended. */
  readonly release: () => void;
}

/** The beginning of a file that is being downloaded. One download at a time has it. */
export class PartialFile {
  /** The version of the file on the server; undefined for a download that can't be continued. */
  validator?: string;
  totalBytes?: number;
  /** How many bytes have been stored. */
  bytes = 0;
  private journaledBytes = 0;
  private hashes = new Map<DigestAlgorithm, Hash>();

  private constructor(
    readonly folder: string,
    private readonly handle: FileHandle,
    private readonly options: PartialFileOptions,
  ) {
    this.resetHashes();
  }

  /** Opens the file with the bytes that an earlier download has stored, if its journal is intact. */
  static async open(folder: string, options: PartialFileOptions): Promise<PartialFile> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const journal = await readJournal(folder);
    const handle = await open(join(folder, 'data'), journal ? 'r+' : 'w+', 0o600).catch(() =>
      open(join(folder, 'data'), 'w+', 0o600),
    );
    const partial = new PartialFile(folder, handle, options);
    const { size } = await handle.stat();
    if (journal && size >= journal.bytes) {
      partial.validator = journal.validator;
      partial.totalBytes = journal.totalBytes;
      partial.bytes = partial.journaledBytes = journal.bytes;
      await handle.truncate(journal.bytes);
    } else {
      await partial.restart();
    }
    return partial;
  }

  get path(): string {
    return join(this.folder, 'data');
  }

  /** Begins from zero with a version of the file. */
  async restart(validator?: string, totalBytes?: number): Promise<void> {
    await rm(journalOf(this.folder), { force: true });
    await this.handle.truncate(0);
    this.validator = validator;
    this.totalBytes = totalBytes;
    this.bytes = this.journaledBytes = 0;
    this.resetHashes();
  }

  /** Reads the bytes of an earlier download, which the digest includes. */
  async readStored(): Promise<void> {
    this.resetHashes();
    if (this.bytes === 0) return;
    for await (const chunk of createReadStream(this.path, { end: this.bytes - 1 }) as AsyncIterable<Buffer>)
      this.hash(chunk);
  }

  async append(chunk: Buffer): Promise<void> {
    let written = 0;
    while (written < chunk.length) {
      const { bytesWritten } = await this.handle.write(chunk, written, chunk.length - written, this.bytes + written);
      written += bytesWritten;
    }
    this.hash(chunk);
    this.bytes += chunk.length;
    if (this.bytes - this.journaledBytes >= JOURNAL_STEP_BYTES) await this.writeJournal();
  }

  /** The hex digits of the digest of all bytes. */
  digest(algorithm: DigestAlgorithm): string {
    return this.hashes.get(algorithm)!.copy().digest('hex');
  }

  /** Ends this download, and keeps what it has stored for the next one. */
  async keep(): Promise<void> {
    try {
      if (this.validator === undefined || this.bytes === 0) return await this.discard();
      await this.writeJournal();
      await this.handle.close();
    } finally {
      this.options.release();
    }
  }

  async discard(): Promise<void> {
    try {
      await this.handle.close();
      await rm(this.folder, { recursive: true, force: true });
    } finally {
      this.options.release();
    }
  }

  private async writeJournal(): Promise<void> {
    if (this.validator === undefined) return;
    await this.handle.datasync();
    const { validator, totalBytes, bytes } = this;
    const journal: DownloadRecord = { validator, totalBytes, bytes, updatedAt: this.options.clock.now() };
    const file = journalOf(this.folder);
    await writeFile(`${file}.new`, JSON.stringify(journal), { mode: 0o600 });
    await rename(`${file}.new`, file);
    this.journaledBytes = bytes;
  }

  private hash(chunk: Buffer): void {
    for (const hash of this.hashes.values()) hash.update(chunk);
  }

  private resetHashes(): void {
    this.hashes = new Map(this.options.algorithms.map((algorithm) => [algorithm, createHash(algorithm)]));
  }
}

/**
 * Interrupted downloads, in a private folder of one context of this service. Each has a journal with the version of the
 * file on the server, so that the next download of the same URL continues it, also after a restart of the service.
 */
export class PartialDownloads {
  /** Names of the folders that downloads use. */
  private readonly inUse = new Set<string>();
  private isClosing = false;

  constructor(
    private readonly folder: string,
    private readonly clock: Clock,
  ) {}

  /**
   * Opens the partial file of a download. While another download has it, this one begins a file of its own.
   * @param key identifies the download: its URL and credentials, which are not stored
   * @param algorithms of the digests that will be needed
   */
  async open(key: string, algorithms: readonly DigestAlgorithm[] = ['sha256']): Promise<PartialFile> {
    const known = createHash('sha256').update(key).digest('hex').slice(0, KEY_HEX_DIGITS);
    const name = this.inUse.has(known) ? randomUUID() : known;
    this.inUse.add(name);
    try {
      const release = (): void => void this.inUse.delete(name);
      return await PartialFile.open(join(this.folder, name), { algorithms, clock: this.clock, release });
    } catch (error) {
      this.inUse.delete(name);
      throw error;
    }
  }

  /** Whether downloads end because the service stops. They are continued after its next start. */
  get areInterrupted(): boolean {
    return this.isClosing;
  }

  interrupt(): void {
    this.isClosing = true;
  }

  /**
   * Removes partial downloads that are too old, too many, or without a journal because the service was killed. Never
   * fails.
   */
  async sweep(maxKept = MAX_KEPT): Promise<void> {
    const names = await readdir(this.folder).catch(() => [] as string[]);
    const idle = names.filter((name) => !this.inUse.has(name));
    const found = await Promise.all(
      idle.map(async (name) => ({ name, journal: await readJournal(join(this.folder, name)) })),
    );
    const age = ({ journal }: (typeof found)[number]): number =>
      journal ? Math.max(0, this.clock.now() - journal.updatedAt) : Infinity;
    const kept = found
      .filter((one) => age(one) < KEEP_PARTIAL_MS)
      .sort((one, other) => age(one) - age(other))
      .slice(0, maxKept);
    for (const one of found) {
      if (kept.includes(one) || this.inUse.has(one.name)) continue;
      await rm(join(this.folder, one.name), { recursive: true, force: true }).catch(() => undefined);
    }
  }
}

const journalOf = (folder: string): string => join(folder, 'journal.json');

async function readJournal(folder: string): Promise<DownloadRecord | undefined> {
  try {
    const journal = JSON.parse(await readFile(journalOf(folder), 'utf8')) as Partial<DownloadRecord> | null;
    const { validator, totalBytes, bytes, updatedAt } = journal ?? {};
    const isValid =
      typeof validator === 'string' &&
      isCount(bytes) &&
      isCount(updatedAt) &&
      (totalBytes === undefined || (isCount(totalBytes) && totalBytes >= bytes));
    return isValid ? { validator, totalBytes, bytes, updatedAt } : undefined;
  } catch {
    return undefined;
  }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
