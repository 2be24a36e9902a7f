import { t } from '@lingui/core/macro';
import type { KeepRulesDto } from '@headgate/api-contracts';
import { perLanguage } from '../texts/per-language.js';

export const KEEP_FIELDS = ['last', 'hourly', 'daily', 'weekly', 'monthly', 'yearly'] as const;
export type KeepField = (typeof KEEP_FIELDS)[number];

/** The texts of the rules; an empty one keeps none for its reason. */
export type KeepForm = Readonly<Record<KeepField, string>>;

export const keepLabels = perLanguage((): Readonly<Record<KeepField, string>> => ({
  last: t`Newest`,
  hourly: t`Hours`,
  daily: t`Days`,
  weekly: t`Weeks`,
  monthly: t`Months`,
  yearly: t`Years`,
}));

const MAX_KEPT = 10_000;

export const NO_RULES: KeepForm = { last: '', hourly: '', daily: '', weekly: '', monthly: '', yearly: '' };
export const USUAL_RULES: KeepForm = { ...NO_RULES, last: '3', daily: '7', weekly: '4', monthly: '6' };

export const keepFormOf = (rules: KeepRulesDto | undefined): KeepForm =>
  Object.fromEntries(
    KEEP_FIELDS.map((field) => [field, rules?.[field] ? String(rules[field]) : '']),
  ) as unknown as KeepForm;

/** undefined without any rule. */
export function rulesOf(form: KeepForm): KeepRulesDto | undefined {
  const set = KEEP_FIELDS.flatMap((field) => (Number(form[field]) > 0 ? [[field, Number(form[field])] as const] : []));
  return set.length === 0 ? undefined : Object.fromEntries(set);
}

export function keepProblem(form: KeepForm): string | undefined {
  const isWrong = KEEP_FIELDS.some((field) => !/^\d*$/.test(form[field].trim()) || Number(form[field]) > MAX_KEPT);
  return isWrong ? t`Enter whole numbers from 0 to ${MAX_KEPT}.` : undefined;
}
