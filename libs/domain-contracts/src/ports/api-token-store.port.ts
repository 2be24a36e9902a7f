import type { AccessScope, TokenAction } from '../model/grant.js';

/** Which commits of an agent wait until a user approves them. */
export const APPROVAL_RULES = ['none', 'destructive', 'all'] as const;
export type ApprovalRule = (typeof APPROVAL_RULES)[number];

/** The limits of a token for an agent, which changes nothing except what it has rehearsed. */
export interface Leash {
  /** What it may rehearse. The token itself has only `read`, also for releases that know no leash. */
  readonly actions: readonly TokenAction[];
  /** How many instances it changes in any hour. Each member of a bulk task counts. */
  readonly changesPerHour: number;
  /** The part of a folder's members that it changes in any hour, in percent. */
  readonly maxPercentOfFolder: number;
  readonly approval: ApprovalRule;
}

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
  /** The only addresses and networks of its clients, such as `10.0.0.0/8`. Empty or missing: any. */
  readonly addresses?: readonly string[];
  /** Present: the token is for an agent. */
  readonly agent?: Leash;
  /** Whether an administrator has stopped the agent: its requests are refused until they resume it. */
  readonly isStopped?: boolean;
  /** Whether a program has it by a device login, so that its user may revoke it. */
  readonly isOfDevice?: boolean;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly lastUsedAt: string | null;
}

/** The parts of a token that change while it keeps its ID and its name. */
export type ApiTokenChange = Partial<
  Pick<ApiToken, 'hash' | 'creator' | 'actions' | 'addresses' | 'agent' | 'isStopped' | 'scope' | 'expiresAt'>
>;

/**
 * Stores the API tokens. A write that has returned is durable. Reads return the writes of this process, and soon
 * afterwards those of other replicas.
 */
export abstract class ApiTokenStore {
  /**
   * Adds or replaces a token.
   * @throws DomainError ALREADY_EXISTS when another replica has just created one of the same name
   */
  abstract put(token: ApiToken): Promise<void>;
  /**
   * @throws DomainError NOT_READY while this process does not reach the store, because the token may have been revoked
   */
  abstract get(id: string): ApiToken | undefined;
  /** The newest first. */
  abstract all(): readonly ApiToken[];
  /**
   * Changes some parts of a token and keeps the others, also those that another process changes at the same time. Never
   * brings a deleted token back.
   * @param formerHash changes it only if it has this hash
   * @returns whether it was changed
   */
  abstract update(id: string, change: ApiTokenChange, formerHash?: string): Promise<boolean>;
  /** Does nothing if the token is gone. */
  abstract setLastUsed(id: string, time: string): Promise<void>;
  /** @returns whether it existed */
  abstract delete(id: string): Promise<boolean>;

  /**
   * @param listener called after another replica has changed or deleted tokens, until the returned function is called
   */
  subscribe(_listener: () => void): () => void {
    return () => undefined;
  }
}
