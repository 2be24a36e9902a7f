import type { LossView, MoveConcernView, PlanStepView, RefusalView, SecondsView } from '@headgate/api-contracts';
import { printable } from '../terminal/printable.js';
import { readable } from '../terminal/readable-seconds.js';

/** A plan of any route, as far as it is shown. */
export interface ShownPlan {
  readonly steps: readonly PlanStepView[];
  readonly warnings: readonly (string | MoveConcernView)[];
  readonly refusals: readonly (RefusalView | MoveConcernView)[];
  readonly losses?: readonly LossView[];
  readonly seconds?: SecondsView;
  readonly interruption?: SecondsView;
  readonly estimatedDowntimeSeconds?: number | null;
}

const INTERRUPTING = /^(stop|restart|pause|power.?off|shut.?down|delete|remove$|restore)/i;

/** Whether a guest stops, or something is lost, if the plan is carried out. */
export const isDisruptive = (plan: ShownPlan): boolean =>
  plan.interruption !== undefined ||
  (plan.losses ?? []).length > 0 ||
  (plan.estimatedDowntimeSeconds ?? 0) > 0 ||
  plan.steps.some(({ name }) => INTERRUPTING.test(name));

/** The plan as lines of text that are safe for a terminal. */
export function formatPlan(title: string, plan: ShownPlan): string {
  const lines = [
    `${title}${plan.seconds ? `, ${formatSeconds(plan.seconds)}` : ''}`,
    ...plan.steps.map(({ name, detail, seconds }) =>
      line('  -', `${name}: ${detail}${seconds ? ` (${formatSeconds(seconds)})` : ''}`),
    ),
    ...interruptionOf(plan).map((text) => line('  interruption:', text)),
    ...(plan.losses ?? []).map(({ what, severity }) => line('  loss:', `${what} (${severity})`)),
    ...plan.warnings.map((warning) => line('  warning:', typeof warning === 'string' ? warning : warning.reason)),
    ...plan.refusals.map(({ code, reason, remedy }) => line('  refused:', `${reason} ${remedy}`.trim() + ` (${code})`)),
  ];
  if (plan.steps.length === 0 && plan.refusals.length === 0) lines.push('  nothing to do');
  return lines.map((text) => `${text}\n`).join('');
}

const line = (label: string, text: string): string => `${label} ${printable(text)}`;

function interruptionOf({ interruption, estimatedDowntimeSeconds }: ShownPlan): string[] {
  if (interruption) return [`the guest stops for ${formatSeconds(interruption)}`];
  if (estimatedDowntimeSeconds) return [`the guest stops for about ${readable(estimatedDowntimeSeconds)}`];
  return [];
}

/** A measured range, such as `8 s to 12 s`. */
export function formatSeconds({ low, high }: SecondsView): string {
  const [from, to] = [readable(low), readable(high)];
  return from === to ? from : `${from} to ${to}`;
}
