import type { KeepRules } from '@headgate/domain-contracts';

export type { KeepRules } from '@headgate/domain-contracts';

export const KEEP_PERIODS = ['last', 'hourly', 'daily', 'weekly', 'monthly', 'yearly'] as const;

export const hasRules = (rules: KeepRules): boolean => KEEP_PERIODS.some((period) => (rules[period] ?? 0) > 0);

/** Decides which points the rules keep. */
export abstract class Retention {
  /** @returns the IDs of those that are kept */
  abstract kept(
    points: readonly { readonly id: string; readonly time: string }[],
    rules: KeepRules,
    timeZone: string,
  ): ReadonlySet<string>;
}
