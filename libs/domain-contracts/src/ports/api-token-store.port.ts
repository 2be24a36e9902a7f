import type { AccessScope, TokenAction } from '../values/grant.js';

/** An API token as it is stored: the token itself is known only to its user. */
export interface ApiToken {
  readonly id: string;
  /** The user's name for it. */
  readonly name: string;
  /** SHA-256 of the whole token, in hexadecimal digits. */
  readonly hash: string;
  /** The login of its creator; empty for a creator without an identity. */
  readonly creator: string;
  readonly scope: AccessScope;
  readonly actions: readonly TokenAction[];
  /** ISO 8601. */
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly lastUsedAt: string | null;
}

/** Stores the API tokens. A write that has returned is on disk. */
export abstract class ApiTokenStore {
  abstract put(token: ApiToken): void;
  abstract get(id: string): ApiToken | undefined;
  /** The newest first. */
  abstract all(): readonly ApiToken[];
  /** Does nothing if the token is gone. */
  abstract setLastUsed(id: string, time: string): void;
  /** @returns whether it existed */
  abstract delete(id: string): boolean;
}
