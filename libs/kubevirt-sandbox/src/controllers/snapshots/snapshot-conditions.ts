import { setCondition, type Condition } from '../../types/condition.js';

export interface Progress {
  /** Default false. */
  readonly progressing?: boolean;
  /** Default false. */
  readonly ready?: boolean;
  readonly reason: string;
  /** Default: `reason`. */
  readonly readyReason?: string;
  readonly now: string;
}

/** Snapshots, restores and clones report their state in the reasons of two conditions. */
export function reportProgress(status: { conditions?: Condition[] }, progress: Progress): void {
  const { progressing = false, ready = false, reason, readyReason = reason, now } = progress;
  const conditions = (status.conditions ??= []);
  setCondition(conditions, { type: 'Progressing', status: progressing ? 'True' : 'False', reason }, now);
  setCondition(conditions, { type: 'Ready', status: ready ? 'True' : 'False', reason: readyReason }, now);
}

/** `5m0s`, `2h` in milliseconds; undefined when the text is not a Go duration. */
export function goDuration(text: string | undefined): number | undefined {
  if (!text) return undefined;
  const units: Record<string, number> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };
  const parts = [...text.matchAll(/([0-9.]+)(ms|h|m|s)/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text) return undefined;
  return parts.reduce((total, [, value, unit]) => total + Number(value) * units[unit!]!, 0);
}
