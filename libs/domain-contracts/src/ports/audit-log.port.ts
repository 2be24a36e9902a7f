import type { Caller } from '../values/caller.js';

/** An action of this service and its caller. Never contains a secret. */
export interface AuditEntry {
  /** ISO 8601. */
  readonly time: string;
  readonly caller: Caller['login'];
  /** A verb such as `create`, `start`, `delete`. */
  readonly action: string;
  /** The object: the ref of an instance as text, `folder/<path>`, or a context. */
  readonly ref: string;
  readonly outcome: 'ok' | 'error';
  readonly message: string;
}

/** The log of actions and their callers. */
export abstract class AuditLog {
  abstract append(entry: AuditEntry): void;
  /** Newest first; only those of one instance if `ref` is given. */
  abstract recent(limit: number, ref?: string): readonly AuditEntry[];
}
