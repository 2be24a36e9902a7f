import type { AuditEntry } from '@headgate/domain-contracts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const DAYS = 30;

/** The people of the invented company, and the token of its pipeline. */
const PEOPLE = ['ann', 'bob', 'carla', 'dmitri'] as const;
const PIPELINE = { caller: 'ci', token: 'pipeline01' } as const;

const ACTIONS = [
  'start',
  'stop',
  'restart',
  'restart',
  'open console',
  'open console',
  'create snapshot',
  'migrate',
  'add tag critical',
  'resize',
] as const;

/** One of so many actions fails. */
const FAILS_ONE_OF = 25;
const FAILURE = { code: 'BACKEND_TIMEOUT', message: 'The backend did not respond in time.' } as const;

/** Machines whose snapshots the pipeline takes each night at two. */
const NIGHTLY = 12;
const NIGHT_HOUR = 2;

interface SandboxPast {
  /** The refs of the simulated instances. */
  readonly refs: readonly string[];
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** A number from 0 to the limit (exclusive) that depends on the text only. */
  readonly choose: (seed: string, limit: number) => number;
}

/**
 * What the people of the invented company did with its machines in the last 30 days, the oldest first: more on working
 * days, and snapshots at night.
 */
export function sandboxJournal({ refs, now, choose }: SandboxPast): AuditEntry[] {
  if (refs.length === 0) return [];
  const entries: AuditEntry[] = [];
  const firstHour = Math.floor((now - DAYS * DAY_MS) / HOUR_MS) * HOUR_MS;
  for (let hour = firstHour; hour < now; hour += HOUR_MS) {
    if (new Date(hour).getUTCHours() === NIGHT_HOUR) entries.push(...nightly(hour, refs));
    const count = choose(`${hour}`, busyness(new Date(hour)));
    for (let index = 0; index < count; index++) entries.push(byPerson(hour, `${hour}/${index}`, refs, choose));
  }
  return entries.filter(({ time }) => Date.parse(time) < now).sort((one, other) => compare(one.time, other.time));
}

/** One more than the most actions of an hour. */
function busyness(hour: Date): number {
  const isWeekend = [0, 6].includes(hour.getUTCDay());
  const isWorkingHour = hour.getUTCHours() >= 7 && hour.getUTCHours() < 18;
  return isWorkingHour && !isWeekend ? 14 : 3;
}

function byPerson(hour: number, seed: string, refs: readonly string[], choose: SandboxPast['choose']): AuditEntry {
  const fails = choose(`${seed}/outcome`, FAILS_ONE_OF) === 0;
  return {
    time: new Date(hour + choose(`${seed}/time`, HOUR_MS)).toISOString(),
    caller: PEOPLE[choose(`${seed}/person`, PEOPLE.length)]!,
    action: ACTIONS[choose(`${seed}/action`, ACTIONS.length)]!,
    ref: refs[choose(`${seed}/ref`, refs.length)]!,
    outcome: fails ? 'error' : 'ok',
    message: '',
    ...(fails && FAILURE),
  };
}

const nightly = (hour: number, refs: readonly string[]): AuditEntry[] =>
  refs.slice(0, NIGHTLY).map((ref, index) => ({
    ...PIPELINE,
    time: new Date(hour + index * MINUTE_MS).toISOString(),
    action: 'create snapshot',
    ref,
    outcome: 'ok',
    message: '',
  }));

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
