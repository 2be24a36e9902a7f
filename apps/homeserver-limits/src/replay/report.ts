import type { ReplayReport } from './replay.js';

/** The keys with the most refusals. */
export const topKeys = (keys: ReadonlyMap<string, number>, count: number): [key: string, refusals: number][] =>
  [...keys].sort(([, one], [, other]) => other - one).slice(0, count);

export interface JsonReport extends Omit<ReplayReport, 'rules'> {
  readonly rules: {
    readonly name: string;
    readonly refused: number;
    readonly wouldBeRefused: number;
    readonly keys: number;
    readonly top: { readonly key: string; readonly refusals: number }[];
  }[];
}

/** @param top how many keys of each rule are listed */
export function toJson({ rules, ...report }: ReplayReport, top: number): JsonReport {
  return {
    ...report,
    rules: [...rules].map(([name, { refused, wouldBeRefused, keys }]) => ({
      name,
      refused,
      wouldBeRefused,
      keys: keys.size,
      top: topKeys(keys, top).map(([key, refusals]) => ({ key, refusals })),
    })),
  };
}
