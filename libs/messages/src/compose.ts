import { createHash } from 'node:crypto';
import {
  plainText,
  type Message,
  type MessageEvent,
  type MessageKind,
  type MessageRule,
  type MessageSeverity,
  type OpenCondition,
  type PendingEvents,
} from '@headgate/domain-contracts';
import { rankOf } from './consider.js';
import { countEvents, MAX_NAMED_EVENTS } from './rule-state.js';

const MAX_SUBJECT_CHARS = 120;
const MAX_LINE_CHARS = 300;

/** Whether an event is the end of a problem. */
const ENDS: ReadonlySet<MessageKind> = new Set(['problem.ended', 'instance.recovered', 'context.returned']);

const WORDS: Record<MessageKind, string> = {
  'problem.began': 'Problem',
  'problem.ended': 'Ended',
  'instance.failed': 'Failed',
  'instance.recovered': 'Recovered',
  'context.lost': 'Lost',
  'context.returned': 'Returned',
  'task.failed': 'Task failed',
  'schedule.failed': 'Schedule failed',
  'schedule.missed': 'Schedule missed',
};

export interface Composed {
  readonly rule: Pick<MessageRule, 'id' | 'name'>;
  readonly pending: PendingEvents | null;
  /** Those that exist still, in a digest. */
  readonly open: readonly OpenCondition[];
  readonly isDigest: boolean;
  /** ISO 8601. */
  readonly now: string;
}

/**
 * Writes a message: plain text, with names and texts from outside on one line each. At most 20 events are named, and at
 * most 20 problems that exist still.
 */
export function compose({ rule, pending, open, isDigest, now }: Composed): Message {
  const events = pending?.events ?? [];
  const count = pending ? countEvents(pending) : 0;
  const severity = severityOf(events, open);
  const lines = [
    isDigest ? digestTitle(count) : '',
    ...events.map(lineOf),
    ...(pending && pending.more > 0 ? [`and ${countOf(pending.more, 'further event')}`] : []),
    ...(isDigest ? openLines(open) : []),
    '',
    `Sent by the rule "${plainText(rule.name, MAX_LINE_CHARS)}" of Headgate.`,
  ];
  return {
    id: createHash('sha256')
      .update(JSON.stringify([rule.id, now, isDigest, events.map(({ id }) => id), count]))
      .digest('hex')
      .slice(0, 32),
    status: 'waiting',
    severity,
    subject: plainText(`[Headgate] ${subjectOf(events, count, isDigest, open.length)}`, MAX_SUBJECT_CHARS),
    text: `${lines.join('\n').trim()}\n`,
    events: count,
    isDigest,
    createdAt: now,
    endedAt: null,
    attempts: 0,
    nextAttemptAt: null,
    reason: '',
  };
}

const headOf = ({ kind, title }: MessageEvent): string => `${WORDS[kind]}: ${title}`;

function subjectOf(events: readonly MessageEvent[], count: number, isDigest: boolean, open: number): string {
  if (isDigest) return `Digest: ${countOf(count, 'event')}${open > 0 ? `, ${countOf(open, 'open problem')}` : ''}`;
  const [first] = events;
  if (first && events.length === 1 && count === first.count) return headOf(first);
  return first ? `${countOf(count, 'event')}, such as ${headOf(first)}` : countOf(count, 'event');
}

const digestTitle = (count: number): string => (count === 0 ? 'Nothing new.' : `${countOf(count, 'event')}:`);

function lineOf(event: MessageEvent): string {
  const times = event.count > 1 ? ` (the last of ${event.count} events)` : '';
  const detail = event.detail === '' ? '' : `: ${event.detail}`;
  return plainText(`${event.time} ${event.severity} ${headOf(event)}${detail}`, MAX_LINE_CHARS) + times;
}

function openLines(open: readonly OpenCondition[]): string[] {
  if (open.length === 0) return [];
  const rest = open.length - MAX_NAMED_EVENTS;
  return [
    '',
    `${countOf(open.length, 'open problem')}:`,
    ...open
      .slice(0, MAX_NAMED_EVENTS)
      .map(({ severity, title, since }) => plainText(`${severity} ${title}, since ${since}`, MAX_LINE_CHARS)),
    ...(rest > 0 ? [`and ${countOf(rest, 'further problem')}`] : []),
  ];
}

/** The most serious beginning. A message about ends only is an information. */
function severityOf(events: readonly MessageEvent[], open: readonly OpenCondition[]): MessageSeverity {
  const all = [...events.filter(({ kind }) => !ENDS.has(kind)), ...open].map(({ severity }) => severity);
  return all.reduce<MessageSeverity>((most, one) => (rankOf(one) > rankOf(most) ? one : most), 'info');
}

const countOf = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
