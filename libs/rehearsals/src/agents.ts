import type { Caller, InstanceIdentity, Leash } from '@headgate/domain-contracts';

/** An agent with the rights to do what it has rehearsed. */
export interface Agent {
  /** The ID of its token. */
  readonly token: string;
  /** The name of its token. */
  readonly name: string;
  readonly leash: Leash;
  /** Its caller, with the grant for changes that were rehearsed. */
  readonly caller: Caller;
}

/** Finds agents by their tokens, with the rights that they have at the moment. */
export abstract class Agents {
  /** @throws DomainError NOT_PERMITTED for a token that is stopped, revoked, expired or without a leash */
  abstract get(token: string): Agent;
  /**
   * Calls back once when a token was changed, stopped or revoked, or has expired, at once if it has already.
   * @returns call it when it is no longer needed
   */
  abstract follow(token: string, changed: () => void): () => void;
}

/** An instance that an agent has changed. */
export interface ChangedInstance {
  readonly ref: string;
  /** In milliseconds since the epoch. */
  readonly at: number;
}

/** What budgets need to know about the fleet. */
export abstract class BudgetFacts {
  /** The changes of a token since a time, from the journal. */
  abstract changesOf(token: string, sinceMs: number): readonly ChangedInstance[];
  /** The folder of an instance; empty for one in no folder, undefined for one that does not exist. */
  abstract folderOf(ref: string): string | undefined;
  /** The members of a folder; for an empty path, the instances in no folder. */
  abstract membersOf(path: string): readonly InstanceIdentity[];
}
