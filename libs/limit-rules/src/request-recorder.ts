import type { RequestOutcome, RuleFacts } from './rule.js';

/** Receives the facts of every request that rules could count, and its outcome. */
export interface RequestRecorder {
  /** @returns a number that identifies the request */
  onDecided(facts: readonly RuleFacts[], refusedBy: string | undefined): number;
  onSettled(request: number, outcome: RequestOutcome): void;
}
