import { PastUsage, type InstanceRef, type StepRange, type Usage, type UsageStep } from '@headgate/domain-contracts';
import type { MeanUsage } from '@headgate/kubevirt-sandbox';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Longer steps are computed from these, so that a peak is the same in each range. */
const FINE_MS = 3 * MINUTE_MS;
/** In its last hours, the past approaches the averages that are measured from then on. */
const APPROACH_MS = 2 * HOUR_MS;
const MAX_LOAD = 0.97;
/** Before their last restart, some guests used more memory from day to day. */
const LEAK_MS = 12 * DAY_MS;
const LEAK_SHARE = 0.28;
/** One of so many guests. */
const LEAKS_ONE_OF = 3;
const BACKUPS_ONE_OF = 3;
const BACKUP_HOUR = 2;
const BACKUP_LENGTH_MS = 36 * MINUTE_MS;
const BACKUP_BYTES_PER_SECOND = 60e6;
/** At least this many days ago, and up to so many more. */
const STOPPED_DAYS = { least: 1, spread: 20 };

/** A seeded guest. Times are milliseconds since the epoch. */
export interface SandboxGuest {
  readonly ref: InstanceRef;
  readonly cpu: number;
  readonly memoryBytes: number;
  readonly createdAt: number;
  /** Its last start. */
  readonly startedAt: number;
  readonly isRunning: boolean;
}

export interface SandboxUsageDeps {
  /** By the ID of its object. Guests that never ran are absent. */
  readonly guests: ReadonlyMap<string, SandboxGuest>;
  /** When the cluster was opened, in milliseconds since the epoch: later usage is measured. */
  readonly until: number;
  /** A number from 0 to the limit (exclusive) that depends on the text only. */
  readonly choose: (seed: string, limit: number) => number;
  readonly meanOf: (ref: InstanceRef) => MeanUsage;
}

/** The usage of one guest at a time, and the largest values around it. */
type UsageAt = (time: number) => Omit<UsageStep, 'time'>;

/**
 * The usage of the guests of the invented company: more on working days or in the evening, backups at night, and memory
 * that grows until a restart. A guest has none before it was created or after it was stopped.
 */
export class SandboxUsage extends PastUsage {
  constructor(private readonly deps: SandboxUsageDeps) {
    super();
  }

  override steps({ uid }: { readonly uid: string }, { from, to, stepMs }: StepRange): UsageStep[] {
    const guest = this.deps.guests.get(uid);
    if (!guest) return [];
    const until = this.endOf(guest);
    const usageAt = this.usageOf(guest);
    const steps: UsageStep[] = [];
    for (let time = from; time <= to && time + stepMs <= until; time += stepMs) {
      if (time < guest.createdAt) continue;
      const parts = Array.from({ length: stepMs / FINE_MS }, (_none, index) => usageAt(time + index * FINE_MS));
      steps.push({ time, ...combined(parts) });
    }
    return steps;
  }

  private endOf({ ref, isRunning }: SandboxGuest): number {
    const { until, choose } = this.deps;
    const days = STOPPED_DAYS.least + choose(`${ref.name} stopped`, STOPPED_DAYS.spread);
    return isRunning ? until : until - days * DAY_MS;
  }

  private usageOf({ ref, cpu, memoryBytes, startedAt }: SandboxGuest): UsageAt {
    const { choose, meanOf, until } = this.deps;
    const seed = `${ref.kind}/${ref.namespace}/${ref.name}`;
    const { load: level, traffic } = meanOf(ref);
    const rhythm = RHYTHMS[choose(`${seed} rhythm`, RHYTHMS.length)]!;
    const isLeaking = choose(`${seed} leak`, LEAKS_ONE_OF) === 0;
    const isBackedUp = choose(`${seed} backup`, BACKUPS_ONE_OF) === 0;
    const noises = Array.from({ length: 6 }, (_none, index) => noiseOf(choose(`${seed} noise ${index}`, 2 ** 31)));
    const [slow, fast, peak, disk, network, used] = noises as [Noise, Noise, Noise, Noise, Noise, Noise];
    const activityAt = (time: number): number => {
      const approach = Math.max(0, 1 - (until - time) / APPROACH_MS);
      return rhythm(new Date(time)) * (1 - approach) + approach;
    };
    return (time) => {
      const activity = activityAt(time) * (1 + 0.15 * slow(Math.floor(time / HOUR_MS)));
      const step = Math.floor(time / FINE_MS);
      const load = bounded(level * activity * (1 + 0.12 * fast(step)));
      const maxLoad = bounded(load * (1.25 + 0.2 * peak(step)));
      const grown = isLeaking ? leakAt(time, startedAt) : 0;
      const memory = (one: number): number =>
        memoryBytes * Math.min(MAX_LOAD, 0.4 + one / 2 + grown + 0.01 * used(step));
      const backup = isBackedUp && isInBackup(time) ? BACKUP_BYTES_PER_SECOND : 0;
      const usage = (one: number, noisy: number): Usage => ({
        cpuMillicores: cpu * 1000 * one,
        memoryUsedBytes: memory(one),
        memoryTotalBytes: memoryBytes,
        diskReadBytesPerSecond: traffic ? traffic.read * activity * noisy * (1 + 0.12 * disk(step)) + backup : null,
        diskWriteBytesPerSecond: traffic ? traffic.write * activity * noisy * (1 + 0.12 * disk(-step)) : null,
        networkReceiveBytesPerSecond: traffic ? traffic.receive * activity * noisy * (1 + 0.12 * network(step)) : null,
        networkTransmitBytesPerSecond: traffic
          ? traffic.transmit * activity * noisy * (1 + 0.12 * network(-step)) + backup / 2
          : null,
      });
      return { average: usage(load, 1), maximum: usage(maxLoad, 1.25) };
    };
  }
}

/** How busy a guest is at a time, 1 on average. */
const RHYTHMS: readonly ((time: Date) => number)[] = [
  // Offices: in the hours of work, and hardly at weekends.
  (time) => (isWeekend(time) ? 0.5 : 0.55 + 1.1 * hill(hourOf(time), 12.5, 3)),
  // Shops: in the evening, and at weekends.
  (time) => (isWeekend(time) ? 0.8 : 0.6) + 0.9 * hill(hourOf(time), 19.5, 3),
  // Infrastructure: busy at any time, and a little more by day.
  (time) => (isWeekend(time) ? 0.75 : 0.85) + 0.4 * hill(hourOf(time), 14, 4),
  // Reports and builds: at night.
  (time) => 0.75 + 1.6 * hill(hourOf(time), 3, 1),
];

const isWeekend = (time: Date): boolean => [0, 6].includes(time.getUTCDay());
const hourOf = (time: Date): number => time.getUTCHours() + time.getUTCMinutes() / 60;

/** From 0 to 1: how near an hour is to another one, also past midnight. */
function hill(hour: number, top: number, width: number): number {
  const distance = Math.abs(hour - top);
  return Math.exp(-((Math.min(distance, 24 - distance) / width) ** 2) / 2);
}

const bounded = (load: number): number => Math.min(MAX_LOAD, Math.max(0.005, load));

function leakAt(time: number, restartedAt: number): number {
  const grown = 1 - (restartedAt - time) / LEAK_MS;
  return grown < 0 || grown > 1 ? 0 : LEAK_SHARE * grown;
}

function isInBackup(time: number): boolean {
  const sinceMidnight = time % DAY_MS;
  return sinceMidnight >= BACKUP_HOUR * HOUR_MS && sinceMidnight < BACKUP_HOUR * HOUR_MS + BACKUP_LENGTH_MS;
}

/** A number from -1 to 1 for each integer. A hash of a text would take a hundred times as long. */
type Noise = (step: number) => number;

function noiseOf(seed: number): Noise {
  return (step) => {
    let mixed = Math.imul(seed ^ step, 0x9e3779b1);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b);
    return ((mixed ^ (mixed >>> 13)) >>> 0) / 2 ** 31 - 1;
  };
}

const combined = (parts: readonly Omit<UsageStep, 'time'>[]): Omit<UsageStep, 'time'> => ({
  average: reduced(
    parts,
    ({ average }) => average,
    (one, other) => one + other,
    parts.length,
  ),
  maximum: reduced(parts, ({ maximum }) => maximum, Math.max, 1),
});

function reduced(
  parts: readonly Omit<UsageStep, 'time'>[],
  of: (part: Omit<UsageStep, 'time'>) => Usage,
  join: (one: number, other: number) => number,
  divisor: number,
): Usage {
  const series = (name: keyof Usage): number | null => {
    let all: number | null = null;
    for (const part of parts) {
      const value = of(part)[name];
      if (value !== null) all = all === null ? value : join(all, value);
    }
    return all === null ? null : Math.round(all / divisor);
  };
  return {
    cpuMillicores: series('cpuMillicores'),
    memoryUsedBytes: series('memoryUsedBytes'),
    memoryTotalBytes: series('memoryTotalBytes'),
    diskReadBytesPerSecond: series('diskReadBytesPerSecond'),
    diskWriteBytesPerSecond: series('diskWriteBytesPerSecond'),
    networkReceiveBytesPerSecond: series('networkReceiveBytesPerSecond'),
    networkTransmitBytesPerSecond: series('networkTransmitBytesPerSecond'),
  };
}
