import type { Caller, MessageKind, MessageRule, MessageSeverity, OpenCondition } from '@headgate/domain-contracts';

/** A problem that exists now. */
export interface Condition extends Omit<OpenCondition, 'since'> {
  /** Where it was seen. */
  readonly source: string;
  /** One line, or empty. */
  readonly detail: string;
}

/** Work that has failed. */
export interface FailedWork {
  readonly id: string;
  readonly kind: Extract<MessageKind, 'task.failed' | `schedule.${string}`>;
  readonly severity: MessageSeverity;
  readonly title: string;
  readonly detail: string;
  /** ISO 8601. */
  readonly endedAt: string;
  /** The ref of its instance, as text. */
  readonly ref?: string;
}

/**
 * What has become of a problem. `unknown`: it can't be seen at the moment. `hidden`: the rule is not about it any more,
 * or its owner may not read it, so its end is not reported.
 */
export type ConditionState = 'open' | 'ended' | 'unknown' | 'hidden';

/** What a rule sees, with the rights of its owner. */
export interface Observation {
  /** The sources that are seen at the moment. */
  readonly sources: readonly string[];
  /** Also those that exist, but can't be seen at the moment. */
  readonly existing: readonly string[];
  readonly conditions: readonly Condition[];
  stateOf(open: OpenCondition): ConditionState;
  readonly failed: readonly FailedWork[];
  /** Whether the owner may still read the instance of an event. */
  mayRead(ref: string): boolean;
}

/** Everything that messages can be about. */
export abstract class MessageSources {
  /** Only the subjects of the rule that its owner may read now. */
  abstract observe(rule: MessageRule, owner: Caller): Observation;
  /** Reads the sources again that report no changes, such as the checks of the doctor. Does not fail. */
  abstract refresh(): Promise<void>;
  /** Calls the listener when something may have changed, until the returned function is called. */
  abstract subscribe(listener: () => void): () => void;
}

/** The owners of rules, as callers. */
export abstract class MessageOwners {
  /**
   * The owner with the rights that they have now, limited to those of the API token that has created the rule.
   * @throws DomainError NOT_PERMITTED when the token is gone or expired
   */
  abstract callerOf(rule: Pick<MessageRule, 'owner' | 'token'>): Caller;
}
