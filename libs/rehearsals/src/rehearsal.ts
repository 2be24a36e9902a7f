import type { AnyPlan, InstanceIdentity, JsonObject } from '@headgate/domain-contracts';
import type { Rehearsable } from './rehearsable.js';
import type { TwinOutcome } from './twin-outcome.js';
import type { Comparable } from './compare-plans.js';

/**
 * `ready`: may be committed. `waiting`: committed, and waits until a user approves it. `running`: is being carried out.
 * `done`: it was carried out, or its task was started. `failed`: it was committed, and refused or failed.
 */
export const REHEARSAL_STATUSES = ['ready', 'waiting', 'running', 'done', 'failed', 'rejected', 'canceled'] as const;
export type RehearsalStatus = (typeof REHEARSAL_STATUSES)[number];

/** A change that an agent has rehearsed. */
export interface Rehearsal {
  readonly id: string;
  /** The ID of the token of the agent, and its name. */
  readonly token: string;
  readonly tokenName: string;
  readonly action: string;
  readonly isDestructive: boolean;
  readonly targets: readonly InstanceIdentity[];
  /** How many of the targets are changed; the others are refused. */
  readonly changes: number;
  readonly plan: AnyPlan;
  /** Over the plan, the targets with their IDs, the arguments and the token. Undefined: nothing can be committed. */
  readonly hash: string | undefined;
  readonly status: RehearsalStatus;
  /** The time until which it may be committed or, while it waits, approved. In milliseconds since the epoch. */
  readonly expiresAt: number;
  /** When it was committed. */
  readonly committedAt?: number;
  /** The words of the agent. */
  readonly reason: string;
  /** The login of the user who has approved or rejected it. */
  readonly decidedBy?: string;
  /** The task that continues the change. */
  readonly task?: string;
  /** Why it failed. */
  readonly error?: string;
  readonly errorDetails?: JsonObject;
  /** What a simulation of the context has shown. No part of the hash: it is shown next to the plan. */
  readonly twin?: TwinOutcome;
}

/** A rehearsal in memory. */
export interface KeptRehearsal {
  view: Rehearsal;
  readonly rehearsable: Rehearsable;
  readonly plans: ReadonlyMap<string, Comparable>;
}
