import type { InstanceEventView } from '@headgate/api-contracts';
import type { IconName } from '../../icons.js';

/** An event on the axis of the charts. */
export interface EventMark {
  /** Milliseconds since the epoch. */
  readonly t: number;
  readonly icon: IconName;
  readonly isFailure: boolean;
  readonly text: string;
}

/** The first that fits counts. The reasons of this service are the names of its operations. */
const ICONS: readonly (readonly [RegExp, IconName])[] = [
  [/snapshot|restore/i, 'openDiamond'],
  [/checkpoint|export|backup/i, 'diamond'],
  [/migrat|^move/i, 'migrate'],
  [/^(re)?start|^stop|pause|shutdown|shutting|killing/i, 'restart'],
];

export const isFailure = ({ type }: Pick<InstanceEventView, 'type'>): boolean => type === 'Warning';

/** The shape of an event: the ones of the design for time, and a square for any other change. */
export function iconOf(event: Pick<InstanceEventView, 'type' | 'reason'>): IconName {
  if (isFailure(event)) return 'triangle';
  return ICONS.find(([pattern]) => pattern.test(event.reason))?.[1] ?? 'square';
}

export const textOf = ({ reason, message }: Pick<InstanceEventView, 'reason' | 'message'>): string =>
  [reason, message].filter(Boolean).join(': ');

/** The events of a span that matter for a curve: failures, and what a shape of its own or this service caused. */
export function marksIn(
  events: readonly InstanceEventView[],
  { from, to }: { readonly from: number; readonly to: number },
): EventMark[] {
  return events
    .filter((event) => event.source === 'service' || iconOf(event) !== 'square')
    .map((event) => ({
      t: Date.parse(event.time),
      icon: iconOf(event),
      isFailure: isFailure(event),
      text: textOf(event),
    }))
    .filter(({ t }) => t >= from && t <= to);
}
