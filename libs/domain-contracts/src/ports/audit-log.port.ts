import type { Caller } from '../values/caller.js';

/** What this service did, and for whom. Never carries a secret. */
export interface AuditEntry {
  /** ISO 8601. */
  readonly time: string;
  readonly caller: Caller['login'];
  /** A verb such as `create`, `start`, `delete`. */
  readonly action: string;
  /** The instance, as text. */
  readonly ref: string;
  readonly outcome: 'ok' | 'error';
  readonly message: string;
}

/** Keeps who did what. */
export abstract class AuditLog {
  abstract append(entry: AuditEntry): void;
  /** Newest first; of one instance when `ref` is given. */
  abstract recent(limit: number, ref?: string): readonly AuditEntry[];
}
