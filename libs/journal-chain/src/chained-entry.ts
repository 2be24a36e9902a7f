import { createHash } from 'node:crypto';

/** The kinds of entries that the chain has. Each is pruned from its oldest entry on. */
export const CHAINED_KINDS = ['action', 'request'] as const;
export type ChainedKind = (typeof CHAINED_KINDS)[number];

/** The link of the first entry of a kind. */
export const NO_HASH = '0'.repeat(64);

/** The hashes of the newest entry of each kind, in hexadecimal. One of them is that of the entry before. */
export interface ChainLinks {
  readonly previousAction: string;
  readonly previousRequest: string;
}

/** An entry of the journal without its hash. */
export interface LinkedEntry extends ChainLinks {
  readonly number: number;
  /** ISO 8601. */
  readonly time: string;
  readonly caller: string;
  readonly token: string;
  readonly address: string;
  readonly kind: ChainedKind;
  readonly action: string;
  readonly route: string;
  readonly ref: string;
  readonly outcome: string;
  readonly status: number | null;
  readonly code: string;
  readonly message: string;
}

export interface ChainedEntry extends LinkedEntry {
  /** SHA-256 over the entry and its links, in hexadecimal. */
  readonly hash: string;
}

/** The newest entry of a chain. It fixes all entries before it. */
export interface ChainHead {
  /** 0 without entries. */
  readonly number: number;
  readonly hash: string;
}

const VERSION = 'headgate-journal-1';

/** The fields that the hash covers, in this order. */
export const HASHED_FIELDS = [
  'number',
  'time',
  'caller',
  'token',
  'address',
  'kind',
  'action',
  'route',
  'ref',
  'outcome',
  'status',
  'code',
  'message',
  'previousAction',
  'previousRequest',
] as const satisfies readonly (keyof LinkedEntry)[];

/**
 * SHA-256 in hexadecimal over a JSON array of the version and the fields, whose form is the same in every JavaScript
 * engine: the members are numbers, null and well-formed texts.
 */
export const hashEntry = (entry: LinkedEntry): string =>
  createHash('sha256')
    .update(JSON.stringify([VERSION, ...HASHED_FIELDS.map((field) => entry[field])]))
    .digest('hex');

/**
 * The text as a database returns it. A message is cut between two halves of a character, or quotes a guest; SQLite
 * stores no half characters, and its clients end a text at a NUL.
 */
export const wellFormed = (text: string): string => text.toWellFormed().replaceAll('\0', '\uFFFD');

/** The field with the link to the newest entry of a kind. */
export const linkOf = (kind: ChainedKind): keyof ChainLinks =>
  kind === 'action' ? 'previousAction' : 'previousRequest';
