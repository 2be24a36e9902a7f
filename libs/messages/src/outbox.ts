import { RETRY_DELAYS_MS, type Message, type MessageRule, type MessageRuleState } from '@headgate/domain-contracts';
import { compose } from './compose.js';
import { rankOf } from './consider.js';
import type { Observation } from './message-sources.js';
import { isQuiet, type MessageTimes } from './message-times.js';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
/** Events of one cause arrive within seconds, and become one message. */
export const GATHER_MS = 15 * SECOND_MS;
/** Of a rule, besides its digests. Further events wait, and become one message. */
export const MAX_PER_HOUR = 10;
/** Messages that were not delivered yet. Meanwhile, further events wait. */
export const MAX_WAITING = 20;
/** Of a rule, that were delivered or have failed. */
export const MAX_KEPT = 50;
/** An attempt ends earlier. Until then, no other process begins one. */
export const ATTEMPT_MS = 3 * MINUTE_MS;

/** The next message, and its time. */
export interface Writing {
  /** The state with a new message, or with a digest that was considered. */
  readonly state?: MessageRuleState;
  /** When to look again, in milliseconds since the epoch. */
  readonly next: number;
}

/** Writes the message of a rule if its time has come. */
export function write(rule: MessageRule, seen: Observation, times: MessageTimes, now: number): Writing {
  return rule.delivery === 'digest' ? writeDigest(rule, seen, times, now) : writeGathered(rule, seen, now);
}

function writeGathered(rule: MessageRule, seen: Observation, now: number): Writing {
  const { state } = rule;
  if (!state.pending || waitingOf(state).length >= MAX_WAITING) return { next: Infinity };
  const due = Math.max(gatheredAt(state.pending.since, now), allowedAt(state, now));
  if (due > now) return { next: due };
  // Rounds are frequent enough to notice the end.
  if (isQuiet(rule, now)) return { next: Infinity };
  return { state: withMessage(rule, seen, new Date(now).toISOString(), false), next: now };
}

/** A clock that was set back does not make events wait. */
function gatheredAt(since: string, now: number): number {
  const began = Date.parse(since);
  return began > now ? now : began + GATHER_MS;
}

/** When a further message may be written. Those of a clock that was ahead do not count. */
function allowedAt({ messages }: MessageRuleState, now: number): number {
  const latest = messages
    .filter(({ isDigest }) => !isDigest)
    .map(({ createdAt }) => Date.parse(createdAt))
    .filter((time) => time > now - HOUR_MS && time <= now);
  const oldest = latest[MAX_PER_HOUR - 1];
  return oldest === undefined ? now : oldest + HOUR_MS;
}

/** One for all times that have passed since the last one. Without events and problems, none is sent. */
function writeDigest(rule: MessageRule, seen: Observation, times: MessageTimes, now: number): Writing {
  const { state, digestAt, timeZone } = rule;
  const after = Date.parse(state.digestAfter);
  const due = times.lastDigest(digestAt, timeZone, after, now);
  if (due === undefined) return { next: times.nextDigest(digestAt, timeZone, Math.max(after, now)) ?? Infinity };
  const digestAfter = new Date(due).toISOString();
  const considered = { ...rule, state: { ...state, digestAfter } };
  const isFull = waitingOf(state).length >= MAX_WAITING;
  const hasNews = state.pending !== null || openOf(rule, seen).length > 0;
  if (isFull || !hasNews) return { state: considered.state, next: now };
  return { state: withMessage(considered, seen, digestAfter, true), next: now };
}

/** The problems that the rule is about, and that its owner may read. */
const openOf = ({ kinds, minSeverity, state }: MessageRule, seen: Observation): MessageRuleState['open'] =>
  state.open.filter(
    ({ kind, severity, ref }) =>
      kinds.some((one) => one.startsWith(`${kind}.`)) &&
      rankOf(severity) >= rankOf(minSeverity) &&
      (ref === undefined || seen.mayRead(ref)),
  );

/** What the owner may not read any more is left out. */
function withMessage(rule: MessageRule, seen: Observation, now: string, isDigest: boolean): MessageRuleState {
  const { state } = rule;
  const events = (state.pending?.events ?? []).filter(({ ref }) => ref === undefined || seen.mayRead(ref));
  const pending = state.pending && { ...state.pending, events };
  const open = isDigest ? openOf(rule, seen) : [];
  const next = { ...state, pending: null };
  if (events.length === 0 && (pending?.more ?? 0) === 0 && open.length === 0) return next;
  return { ...next, messages: [compose({ rule, pending, open, isDigest, now }), ...state.messages] };
}

export const waitingOf = ({ messages }: MessageRuleState): Message[] =>
  messages.filter(({ status }) => status === 'waiting').toReversed();

/** When the next attempt of a message is due. A time that is too far ahead comes from a clock that was set back. */
export function attemptAt({ attempts, nextAttemptAt }: Message, now: number): number {
  if (nextAttemptAt === null) return now;
  const due = Date.parse(nextAttemptAt);
  const longest = Math.max(ATTEMPT_MS, RETRY_DELAYS_MS[attempts - 1] ?? 0);
  return due - now > longest ? now : due;
}

/** The state with another version of a message. Of those that have ended, the oldest are dropped. */
export function withVersion(state: MessageRuleState, message: Message): MessageRuleState {
  let ended = 0;
  const messages = state.messages
    .map((one) => (one.id === message.id ? message : one))
    .filter(({ status }) => status === 'waiting' || ++ended <= MAX_KEPT);
  return { ...state, messages };
}
