import { createHash } from 'node:crypto';
import {
  MESSAGE_SEVERITIES,
  type ConsideredWork,
  type MessageEvent,
  type MessageKind,
  type MessageRule,
  type MessageRuleState,
  type MessageSeverity,
  type OpenCondition,
} from '@headgate/domain-contracts';
import type { Observation } from './message-sources.js';
import { withEvents } from './rule-state.js';

/** How many problems a rule follows. Further ones are reported when it has seen the end of others. */
export const MAX_OPEN = 1000;
export const MAX_CONSIDERED = 1000;
/** The clocks of replicas differ by less. */
const MAX_SKEW_MS = 10 * 60_000;

const BEGINNINGS = {
  problem: 'problem.began',
  instance: 'instance.failed',
  context: 'context.lost',
} as const satisfies Record<OpenCondition['kind'], MessageKind>;
const ENDS = {
  problem: 'problem.ended',
  instance: 'instance.recovered',
  context: 'context.returned',
} as const satisfies Record<OpenCondition['kind'], MessageKind>;

/** An event without the fields that all events of a round have in common. */
type NewEvent = Omit<MessageEvent, 'id' | 'count' | 'time'> & { readonly began: string };

/**
 * The state of a rule after it has seen what exists now, with the events that wait for a message. The problems that it
 * knows and those events are one object, so that a process that is killed repeats none and loses none.
 * @returns undefined if nothing has changed
 */
export function consider(rule: MessageRule, seen: Observation, now: string): MessageRuleState | undefined {
  const { state } = rule;
  const events: NewEvent[] = [];
  const open = followOpen(state.open, seen, events);
  addNew(rule, open, seen, events, now);
  const work = considerWork(state, seen, events);
  // A source that can't be seen for a moment is no new one when it is back.
  const sources = [...new Set([...state.sources.filter((one) => seen.existing.includes(one)), ...seen.sources])];
  const wanted = events.filter((event) => isWanted(rule, event));
  const isSame =
    wanted.length === 0 &&
    open.length === state.open.length &&
    open.every((one, index) => one === state.open[index]) &&
    work.considered === state.considered &&
    sources.length === state.sources.length &&
    sources.every((source) => state.sources.includes(source));
  if (isSame) return undefined;
  const added = wanted.map(({ began, ...event }) => ({
    ...event,
    id: eventId(rule.id, event.kind, event.key, began),
    time: now,
    count: 1,
  }));
  return { ...state, ...work, open, sources, pending: withEvents(state.pending, added, now) };
}

/** Those that are still problems, or can't be seen at the moment. */
function followOpen(before: readonly OpenCondition[], seen: Observation, events: NewEvent[]): OpenCondition[] {
  return before.filter((open) => {
    const state = seen.stateOf(open);
    if (state === 'ended') {
      const { kind, key, severity, title, since, ref } = open;
      const detail = `Since ${since}.`;
      events.push({ kind: ENDS[kind], key, severity, title, detail, began: since, ...(ref !== undefined && { ref }) });
    }
    return state === 'open' || state === 'unknown';
  });
}

/**
 * The problems of a source that the rule sees for the first time are known, but no events. A known one is an event
 * again if it has become more serious.
 */
function addNew(
  { state }: MessageRule,
  open: OpenCondition[],
  { conditions }: Observation,
  events: NewEvent[],
  now: string,
): void {
  const places = new Map(open.map(({ key }, index) => [key, index]));
  for (const { source, detail, ...condition } of conditions) {
    const place = places.get(condition.key) ?? open.length;
    const known = open[place];
    if (known ? rankOf(condition.severity) <= rankOf(known.severity) : open.length >= MAX_OPEN) continue;
    places.set(condition.key, place);
    open[place] = { ...condition, since: known?.since ?? now };
    const { kind, ...rest } = condition;
    if (known || state.sources.includes(source)) events.push({ ...rest, kind: BEGINNINGS[kind], detail, began: now });
  }
}

/** The latest failed work, each only once, also when a clock was set back. */
function considerWork(
  state: MessageRuleState,
  { failed }: Observation,
  events: NewEvent[],
): Pick<MessageRuleState, 'considered' | 'endedUntil'> {
  const known = new Set(state.considered.map(({ id }) => id));
  const found = failed.filter(({ id, endedAt }) => endedAt > state.endedUntil && !known.has(id));
  if (found.length === 0) return { considered: state.considered, endedUntil: state.endedUntil };
  for (const { id, endedAt, ...work } of found) events.push({ ...work, key: id, began: endedAt });
  const all: ConsideredWork[] = [...state.considered, ...found.map(({ id, endedAt }) => ({ id, endedAt }))];
  all.sort((a, b) => (a.endedAt < b.endedAt ? -1 : a.endedAt > b.endedAt ? 1 : 0));
  const newest = Date.parse(all.at(-1)?.endedAt ?? '');
  let { endedUntil } = state;
  let dropped = 0;
  for (const { endedAt } of all) {
    const isOld = Date.parse(endedAt) < newest - MAX_SKEW_MS;
    if (!isOld && all.length - dropped <= MAX_CONSIDERED) break;
    endedUntil = endedAt;
    dropped++;
  }
  return { considered: all.slice(dropped), endedUntil };
}

const isWanted = ({ kinds, minSeverity }: MessageRule, { kind, severity }: NewEvent): boolean =>
  kinds.includes(kind) && rankOf(severity) >= rankOf(minSeverity);

export const rankOf = (severity: MessageSeverity): number => MESSAGE_SEVERITIES.indexOf(severity);

const eventId = (...parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
