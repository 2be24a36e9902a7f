import {
  CHAINED_KINDS,
  HASHED_FIELDS,
  hashEntry,
  linkOf,
  NO_HASH,
  type ChainedEntry,
  type ChainedKind,
  type ChainHead,
} from './chained-entry.js';
import { exportLine, type ExportEnd, type UnchainedEntry } from './export-lines.js';

/** `malformed`: not a line of an export. `incomplete`: the export ends too early. */
export type ChainFault = 'changed' | 'removed' | 'inserted' | 'reordered' | 'malformed' | 'incomplete' | 'other head';

/** Why an export is not a part of an untouched journal. */
export class ChainError extends Error {
  override readonly name = 'ChainError';

  /** @param number the entry at which the chain breaks, if it is known */
  constructor(
    readonly fault: ChainFault,
    message: string,
    readonly number?: number,
  ) {
    super(message);
  }
}

export interface CheckedExport {
  /** The entries of the chain. */
  readonly entries: number;
  /** Older entries, from before there was a chain: nothing shows whether they were changed. */
  readonly unchained: number;
  readonly first: number | undefined;
  readonly head: ChainHead;
}

const HASH = /^[0-9a-f]{64}$/;
const CHAIN_FIELDS = ['previousAction', 'previousRequest', 'hash'];
const FIELDS: ReadonlySet<string> = new Set([...HASHED_FIELDS, 'hash']);

/**
 * Checks an export, or several that continue each other, line by line with constant memory. Each entry has to name the
 * newest entries of both kinds before it. The first entry of a kind names one that is not in the export, because older
 * entries are deleted after a while; so only a head that was kept elsewhere shows that the start was not cut off.
 */
export class ExportCheck {
  private line = 0;
  private entries = 0;
  private unchained = 0;
  private sinceEnd = 0;
  private isEnded = false;
  private first: number | undefined;
  private last: ChainHead = { number: 0, hash: NO_HASH };
  private readonly newest = new Map<ChainedKind, ChainedEntry>();
  private readonly unchainedKinds = new Set<ChainedKind>();
  private hasKeptHead = false;

  /** @param keptHead the hash of a head that was kept elsewhere: the export has to have it */
  constructor(private readonly keptHead?: string) {}

  /** @throws ChainError */
  add(line: string): void {
    this.line++;
    const value = this.parse(line);
    if ('end' in value) return this.addEnd(value['end'] as Partial<ExportEnd>);
    const entry = this.readEntry(value);
    // Of two members with one name, a reader may see the one that was not hashed.
    if (exportLine(entry) !== `${line}\n`) throw this.malformed();
    this.isEnded = false;
    this.sinceEnd++;
    this.expectOrder(entry);
    if ('hash' in entry) this.addChained(entry);
    else this.addUnchained(entry);
  }

  /** @throws ChainError */
  finish(): CheckedExport {
    if (!this.isEnded)
      throw new ChainError('incomplete', 'The export ends before its last line. Export the journal again.');
    if (this.keptHead !== undefined && !this.hasKeptHead)
      throw new ChainError(
        'other head',
        `No entry has the hash ${this.keptHead}. The entries after it were replaced, or the export does not reach it.`,
      );
    const { entries, unchained, first } = this;
    return { entries, unchained, first, head: { number: this.last.number, hash: this.last.hash } };
  }

  private addChained(entry: ChainedEntry): void {
    const { number, kind, hash } = entry;
    if (hashEntry(entry) !== hash) throw new ChainError('changed', `Entry ${number} was changed.`, number);
    const isNext = number === this.last.number + 1;
    for (const one of CHAINED_KINDS) this.expectLink(entry, one, isNext);
    this.newest.set(kind, entry);
    this.first ??= number;
    this.last = { number, hash };
    this.entries++;
    if ([hash, entry.previousAction, entry.previousRequest].includes(this.keptHead ?? '')) this.hasKeptHead = true;
  }

  private expectLink(entry: ChainedEntry, kind: ChainedKind, isNext: boolean): void {
    const { number } = entry;
    const link = entry[linkOf(kind)];
    const known = this.newest.get(kind);
    if (!known) {
      if (link === NO_HASH || !this.unchainedKinds.has(kind)) return;
      throw new ChainError('changed', `An entry before ${number} lost its hash: it was changed or inserted.`, number);
    }
    if (link === known.hash) return;
    if (!isNext)
      throw new ChainError(
        'removed',
        `Entries between ${this.last.number} and ${number} were removed or reordered, or entry ${known.number} was replaced.`,
        number,
      );
    throw new ChainError(
      'inserted',
      `Entry ${number} does not continue entry ${known.number}: one of the two was replaced or inserted.`,
      number,
    );
  }

  private addUnchained({ number, kind }: UnchainedEntry): void {
    if (this.newest.size > 0)
      throw new ChainError('changed', `Entry ${number} has no hash: it was changed or inserted.`, number);
    this.unchainedKinds.add(kind);
    this.last = { number, hash: NO_HASH };
    this.unchained++;
  }

  private expectOrder({ number }: { readonly number: number }): void {
    if (number > this.last.number) return;
    throw new ChainError(
      'reordered',
      number === this.last.number
        ? `Entry ${number} occurs twice: one of them was inserted.`
        : `Entry ${number} is after entry ${this.last.number}: entries were reordered or inserted.`,
      number,
    );
  }

  private addEnd(end: Partial<ExportEnd> | null): void {
    const { number, hash, entries } = end ?? {};
    if (!Number.isSafeInteger(number) || !isHash(hash) || !Number.isSafeInteger(entries)) throw this.malformed();
    if (entries !== this.sinceEnd)
      throw new ChainError('removed', `The export should have ${entries} entries, but it has ${this.sinceEnd}.`);
    if (entries === 0 && this.line === 1) this.last = { number: number as number, hash: hash as string };
    if (number !== this.last.number || hash !== this.last.hash)
      throw new ChainError('removed', `The last line names entry ${number} as the newest, which is missing.`);
    this.sinceEnd = 0;
    this.isEnded = true;
  }

  private readEntry(value: Record<string, unknown>): ChainedEntry | UnchainedEntry {
    const isChained = 'hash' in value;
    const fields = Object.keys(value);
    const isComplete = HASHED_FIELDS.every((field) => field in value || (!isChained && CHAIN_FIELDS.includes(field)));
    // A field that the hash does not cover could say anything.
    if (!isComplete || fields.some((field) => !FIELDS.has(field)) || !hasRightTypes(value, isChained))
      throw this.malformed();
    return value as unknown as ChainedEntry | UnchainedEntry;
  }

  private parse(line: string): Record<string, unknown> {
    try {
      const value: unknown = JSON.parse(line);
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
    } catch {
      // The same answer as for other values.
    }
    throw this.malformed();
  }

  private malformed(): ChainError {
    const where = this.last.number === 0 ? '' : `, after entry ${this.last.number},`;
    return new ChainError('malformed', `Line ${this.line}${where} is not a line of an export of the journal.`);
  }
}

const isHash = (value: unknown): boolean => typeof value === 'string' && HASH.test(value);

function hasRightTypes(value: Record<string, unknown>, isChained: boolean): boolean {
  const { number, status, kind, ...texts } = value;
  return (
    Number.isSafeInteger(number) &&
    (number as number) > 0 &&
    (status === null || Number.isSafeInteger(status)) &&
    CHAINED_KINDS.includes(kind as ChainedKind) &&
    Object.values(texts).every((text) => typeof text === 'string') &&
    (!isChained || CHAIN_FIELDS.every((field) => isHash(value[field])))
  );
}
