/** How long each simulated step takes, in milliseconds at scale 1. All durations are here. */
export const TIMINGS = {
  /** VMI created → launcher pod created. */
  vmiScheduling: 300,
  /** Launcher pod created → on its node, its containers up. */
  vmiScheduled: 1_200,
  /** Containers up → guest defined and started. */
  vmiRunning: 1_500,
  /** Power-on → login prompt. */
  guestBoot: 8_000,
  /** Power-on → guest agent answers. */
  agentConnected: 12_000,
  /** The time that a well-behaved guest takes to power off. */
  gracefulShutdown: 3_000,
  /** Guest off → VMI object gone. */
  vmiTeardown: 500,
  /** A guest is paused or resumed → the condition shows it. */
  pauseConfirmed: 300,
  migrationScheduling: 500,
  migrationScheduled: 1_000,
  migrationTargetReady: 2_500,
  /** Copying one GiB of guest memory. */
  migrationPerGiB: 2_000,
  migrationCleanup: 500,
  /** How long a migration's target pod may stay unschedulable. */
  migrationUnschedulableTimeout: 300_000,
  podScheduled: 200,
  podImagePull: 1_500,
  podStart: 500,
  podStop: 800,
  imagePullRetry: 10_000,
  crashLoopBase: 10_000,
  crashLoopLongest: 300_000,
  /** The interval between the lines of a simulated program. */
  programLine: 400,
  /** After the first failed pod of a Job; doubles with each one. */
  jobBackoff: 10_000,
  /** After the cluster has refused a pod of a Job. */
  jobCreateRetry: 10_000,
  pvcBind: 400,
  pvcExpand: 1_500,
  importScheduled: 700,
  /** Downloading one GiB of virtual disk. */
  importPerGiB: 1_000,
  importShortest: 3_000,
  importStep: 500,
  importRetry: 10_000,
  blankImport: 800,
  uploadReady: 1_500,
  cloneTime: 3_000,
  hotplugStep: 1_200,
  nicHotplugGrace: 15_000,
  snapshotTime: 2_500,
  /** Snapshot succeeded or failed → its VM can be changed again. */
  snapshotUnlock: 150,
  restoreTime: 4_000,
  cloneStep: 1_000,
  exportReady: 5_000,
  exportPoll: 1_000,
  metricsFirst: 45_000,
  eventLifetime: 3_600_000,
} as const;

/** The shortest interval between retries, so that a scale of 0 does not spin. */
const SHORTEST_RETRY = 200;
const RETRIES: ReadonlySet<string> = new Set([
  'jobBackoff',
  'jobCreateRetry',
  'imagePullRetry',
  'crashLoopBase',
  'crashLoopLongest',
  'importRetry',
]);

export type TimingName = keyof typeof TIMINGS;

/** The table of durations, scaled and with single entries replaced. Scale 0 makes everything happen immediately. */
export class Timings {
  private readonly table: Record<TimingName, number>;

  constructor(
    readonly scale = 1,
    overrides: Partial<Record<TimingName, number>> = {},
  ) {
    this.table = { ...TIMINGS, ...overrides };
  }

  /** The duration in milliseconds of sandbox time. */
  ms(name: TimingName): number {
    const ms = this.table[name] * this.scale;
    return RETRIES.has(name) ? Math.max(ms, SHORTEST_RETRY) : ms;
  }
}
