import type { MessageRuleState, MessageEvent, PendingEvents } from '@headgate/domain-contracts';

/** How many events a message names. The others are counted. */
export const MAX_NAMED_EVENTS = 20;

/** A rule sees events from now on, and no problem that exists already. */
export const newRuleState = (now: string): MessageRuleState => ({
  sources: [],
  open: [],
  endedUntil: now,
  considered: [],
  digestAfter: now,
  pending: null,
  messages: [],
});

/** Adds events to those that wait for the next message. Those of one object are kept as the last one, with a count. */
export function withEvents(
  pending: PendingEvents | null,
  added: readonly MessageEvent[],
  now: string,
): PendingEvents | null {
  if (added.length === 0) return pending;
  const events = [...(pending?.events ?? [])];
  let more = pending?.more ?? 0;
  for (const event of added) {
    const index = events.findIndex(({ key }) => key === event.key);
    const earlier = events[index];
    if (earlier) events[index] = { ...event, count: earlier.count + event.count };
    else if (events.length < MAX_NAMED_EVENTS) events.push(event);
    else more += event.count;
  }
  return { since: pending?.since ?? now, events, more };
}

export const countEvents = ({ events, more }: PendingEvents): number =>
  events.reduce((sum, { count }) => sum + count, more);
