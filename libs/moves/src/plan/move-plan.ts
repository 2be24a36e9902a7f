import {
  DomainError,
  messageOf,
  type Loss,
  type MeasuredSeconds,
  type MoveRefusalCode,
  type PlanStep,
  type Refusal,
} from '@headgate/domain-contracts';

/** The part of the move that a concern is about. */
export const CONCERN_CATEGORIES = ['request', 'source', 'destination', 'storage'] as const;
export type ConcernCategory = (typeof CONCERN_CATEGORIES)[number];

/** Something that a user should know before the move. A critical concern always blocks it. */
export interface MoveConcern {
  readonly code: MoveRefusalCode | 'WARNING';
  readonly reason: string;
  /** Empty for a warning. */
  readonly remedy: string;
  readonly category: ConcernCategory;
  readonly severity: 'critical' | 'warning';
}

export interface MovePlan {
  /** Whether the move may begin: there is no critical concern. */
  readonly ok: boolean;
  /** Refs, as text. The destination is empty while it can't be determined. */
  readonly source: string;
  readonly destination: string;
  readonly mode: string;
  readonly steps: readonly PlanStep[];
  /** How long past moves like it took. */
  readonly seconds?: MeasuredSeconds;
  readonly warnings: readonly string[];
  /** Properties that the copy will not have, as text. */
  readonly dropped: readonly string[];
  /** The same with their categories and severities. */
  readonly losses: readonly Loss[];
  /** The critical concerns. */
  readonly refusals: readonly MoveConcern[];
  /** Roughly how much is transferred. */
  readonly estimatedBytes: number;
  /** How long the guest will be stopped; null when it is not running, or nothing can be said. */
  readonly estimatedDowntimeSeconds: number | null;
  /** The bounds of the estimate: far apart until it was measured how long the guest takes to shut down. */
  readonly minDowntimeSeconds: number | null;
  readonly maxDowntimeSeconds: number | null;
  /** The format of the new disks; empty when it is unknown. */
  readonly format: string;
  readonly deleteSource: boolean;
}

/** How long a guest will be stopped, and the bounds of that. */
export interface DowntimeEstimate {
  readonly seconds: number;
  readonly minSeconds: number;
  readonly maxSeconds: number;
}

/** Collects the concerns of a preflight, so that all of them are reported together. */
export class Concerns {
  readonly refusals: MoveConcern[] = [];
  readonly warnings: string[] = [];

  refuse(category: ConcernCategory, code: MoveRefusalCode, reason: string, remedy: string): void {
    this.refusals.push({ code, reason, remedy, category, severity: 'critical' });
  }

  /** Whether something is refused with this code. */
  has(code: MoveRefusalCode): boolean {
    return this.refusals.some((refusal) => refusal.code === code);
  }

  /** The refusals of a backend's plan. */
  addRefusals(category: ConcernCategory, refusals: readonly Refusal[]): void {
    for (const { code, reason, remedy } of refusals)
      this.refuse(code === 'INSUFFICIENT_STORAGE' ? 'storage' : category, code, reason, remedy);
  }

  /** The reason for which a backend could not plan its part. @throws the error if it is not a DomainError */
  addFailure(category: ConcernCategory, error: unknown): void {
    if (!(error instanceof DomainError)) throw error;
    this.refuse(category, error.code, messageOf(error), 'Correct the cause, and try again.');
  }

  warn(...warnings: readonly string[]): void {
    this.warnings.push(...warnings);
  }
}
