import type { Caller } from '../model/caller.js';

/** An action of this service and its caller. Never contains a secret. */
export interface AuditEntry {
  /** ISO 8601. */
  readonly time: string;
  readonly caller: Caller['login'];
  /** A verb such as `create`, `start`, `delete`. */
  readonly action: string;
  /** The object: the ref of an instance as text, or a kind and a name such as `folder/<path>`. */
  readonly ref: string;
  readonly outcome: AuditOutcome;
  readonly message: string;
  /** `action` by default. */
  readonly kind?: AuditKind;
  /** The ID of the API token. */
  readonly token?: string;
  /** The IP address of the client. */
  readonly address?: string;
  /** The method and the pattern of the path. */
  readonly route?: string;
  /** The HTTP status of the response. */
  readonly status?: number;
  /** The code of the error. */
  readonly code?: string;
}

/** `denied`: the caller had no right to do it. */
export const AUDIT_OUTCOMES = ['ok', 'error', 'denied'] as const;
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number];

/**
 * `action`: recorded by a use case. `request`: a request that no use case recorded, such as one that was refused
 * before. `simulated`: invented for the past of a simulated cluster.
 */
export const AUDIT_KINDS = ['action', 'request', 'simulated'] as const;
export type AuditKind = (typeof AUDIT_KINDS)[number];

/** The log of actions and their callers. Entries are never changed. */
export abstract class AuditLog {
  /**
   * Reserves the space for the records of a change before it begins. By default, none is needed.
   * @returns gives the space back, when the change is recorded
   * @throws DomainError REGISTRY_FULL when the change could not be recorded
   */
  reserve(): () => void {
    return () => undefined;
  }

  abstract append(entry: AuditEntry): void;

  /**
   * Replaces the invented past of simulated instances, the oldest entry first. A log that has entries of its own gets
   * none. By default, there is no such past.
   */
  replaceSimulated(_entries: readonly AuditEntry[]): void {}

  /** The actions of use cases, newest first; only those of one instance if `ref` is given. */
  abstract recent(limit: number, ref?: string): readonly AuditEntry[];
}

/** Chooses entries of the journal. Every field that is given must match. */
export interface JournalQuery {
  readonly ref?: string;
  readonly caller?: string;
  readonly token?: string;
  readonly outcome?: AuditOutcome;
  /** A part of the action, in any case. */
  readonly action?: string;
  /** ISO 8601, inclusive. */
  readonly since?: string;
  /** ISO 8601, exclusive. */
  readonly until?: string;
  /** Only entries that are older than the one with this number. */
  readonly before?: number;
  readonly limit: number;
}

export interface JournalEntry extends Required<Omit<AuditEntry, 'status'>> {
  /** Grows with each entry. */
  readonly number: number;
  readonly status: number | null;
}

/** The place of an entry in the chain of hashes, in hexadecimal. */
export interface JournalLinks {
  /** The hash of the newest action before it, which may be deleted. 64 zeros for the first one. */
  readonly previousAction: string;
  /** The same of the newest request before it. */
  readonly previousRequest: string;
  /** SHA-256 over the entry and both. */
  readonly hash: string;
}

export interface ChainedJournalEntry extends JournalEntry {
  /** Absent in entries that were recorded before there was a chain. */
  readonly links?: JournalLinks;
}

/** The newest entry of the chain: it fixes all entries before it. */
export interface JournalHead {
  /** 0 without entries. */
  readonly number: number;
  readonly hash: string;
}

/** Spans of equal length, whose actions are counted. */
export interface ActivitySpans {
  /** The start of the first span, in milliseconds since the epoch. */
  readonly since: number;
  /** The length of each span in milliseconds. */
  readonly spanMs: number;
}

/** How many actions were recorded in one span, without denied ones. */
export interface ActivityCount {
  /** The number of the span; the first one is 0. */
  readonly span: number;
  /** Actions of users that succeeded. */
  readonly users: number;
  /** Actions with an API token that succeeded. */
  readonly tokens: number;
  /** Actions that failed. */
  readonly failed: number;
}

/** The entries of one caller, or of one of their API tokens. */
export interface CallerCount {
  readonly caller: string;
  /** The ID of the API token, or empty. */
  readonly token: string;
  readonly entries: number;
}

/** Which entries a query finds, in numbers. */
export interface JournalSummary {
  readonly entries: number;
  readonly failed: number;
  readonly denied: number;
  /** How many different objects the entries are about. */
  readonly objects: number;
  /** Those with the most entries first. */
  readonly callers: readonly CallerCount[];
}

/** Read access to the whole audit log, across all instances. */
export abstract class FleetAuditLog {
  /** The newest first. */
  abstract find(query: JournalQuery): readonly JournalEntry[];
  /** Spans without an action are absent. */
  abstract countActions(spans: ActivitySpans): readonly ActivityCount[];
  /** At most `limit` callers are listed. */
  abstract summarize(query: JournalQuery): JournalSummary;
  /** The entries that follow the one with this number, the oldest first, without simulated ones. */
  abstract after(number: number, limit: number): readonly ChainedJournalEntry[];
  abstract head(): JournalHead;
  /** The number of the newest deleted entry of each kind; 0 if none was deleted. */
  abstract deleted(): Readonly<Record<'action' | 'request', number>>;
}

/** How far the readers of the journal, such as a server of syslog, have read. */
export abstract class JournalPositions {
  /** The number of the last entry that the reader has got; undefined for a new reader. */
  abstract get(reader: string): number | undefined;
  abstract set(reader: string, number: number): void;
}
