import { hash } from 'node:crypto';
import { formatRef, messageOf, SILENT_LOG, type Clock, type Log } from '@headgate/domain-contracts';
import type { Sample, SampledInstance, SampleRecorder } from '../usage.js';
import { CarriedKeys } from './carried-keys.js';
import { KEY_BYTES } from './frames.js';
import { unknownValues, writeSample, type HistoryRow } from './history-row.js';
import { inTurns } from './in-turns.js';
import { LevelFiles, type KeyedRow } from './level-files.js';
import { firstStep, floorTo, LEVELS, type Level, type StoredRange } from './levels.js';
import { mergeRows, StepSums } from './step-sums.js';

const MIN_FREE_BYTES = 64 * 1024 ** 2;
/** Steps that wait for a slow disk. Any more are dropped. */
const MAX_WAITING_STEPS = 4;

interface Coarse {
  readonly level: Level;
  readonly files: LevelFiles;
  /** By the hash of the instance. */
  sums?: StepSums;
}

export interface UsageHistoryDeps {
  /** Created with the first step. */
  readonly folder: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly log?: Log;
  /** By default 64 MiB. With less free space, steps are dropped. */
  readonly minFreeBytes?: number;
}

/**
 * The usage of instances over 30 days, as averages and maxima of steps in files. In memory are only the steps that have
 * not ended. Nothing is read or created before the first step has ended or a history is read, and no failure of the
 * disk stops the samples: the history then lacks the steps that could not be written.
 */
export class UsageHistory implements SampleRecorder {
  private readonly files: LevelFiles;
  private readonly coarse: readonly Coarse[];
  private readonly carried: CarriedKeys;
  private readonly log: Log;
  /** By the identity of the instance. */
  private current: StepSums | undefined;
  /** The values of one sample, without an array for each. */
  private readonly sample = unknownValues();
  private queue: Promise<void> = Promise.resolve();
  private waiting = 0;
  private isFailing = false;
  private caughtUp: Promise<void> | undefined;

  constructor(private readonly deps: UsageHistoryDeps) {
    this.log = deps.log ?? SILENT_LOG;
    const filesOf = (level: Level): LevelFiles =>
      new LevelFiles(deps.folder, level, this.log, deps.minFreeBytes ?? MIN_FREE_BYTES);
    this.files = filesOf(LEVELS[0]);
    this.coarse = LEVELS.slice(1).map((level) => ({ level, files: filesOf(level) }));
    this.carried = new CarriedKeys(deps.folder);
  }

  record(instance: SampledInstance, sample: Sample): void {
    const { stepMs } = LEVELS[0];
    const step = floorTo(sample.time, stepMs);
    const current = this.current?.time ?? step;
    // Contexts are read at different moments, so a sample of the step before may follow.
    if (step > current || step < current - stepMs) this.endStep();
    this.current ??= new StepSums(step);
    writeSample(this.sample, sample);
    this.current.add(identityOf(instance), { count: 1, values: this.sample });
  }

  /** The rows of a range that ends now, oldest first; steps without samples are absent. */
  async read(instance: SampledInstance, range: StoredRange): Promise<HistoryRow[]> {
    const now = this.deps.clock.now();
    const { level, files, sums } = this.levelOf(range);
    const from = firstStep(level, now);
    // A step that ends meanwhile is written after this read.
    const latest = this.current?.row(identityOf(instance));
    const rows: HistoryRow[] = latest ? [latest] : [];
    await this.afterQueue(async () => {
      for (const key of await this.carried.keysOf(keyOf(identityOf(instance)), now)) {
        rows.push(...(await files.read(key, from, now)));
        const open = sums()?.row(key);
        if (open) rows.push(open);
      }
    });
    return mergeRows(rows, level.stepMs).filter(({ time }) => time >= from && time <= now);
  }

  carryOver(from: SampledInstance, to: SampledInstance): void {
    this.enqueue(() => this.carried.add(keyOf(identityOf(from)), keyOf(identityOf(to)), this.deps.clock.now()));
  }

  /** Writes the step that has not ended. */
  async close(): Promise<void> {
    this.endStep();
    await this.queue;
    await Promise.all([this.files, ...this.coarse.map(({ files }) => files)].map((files) => files.close()));
  }

  private endStep(): void {
    const ended = this.current;
    this.current = undefined;
    if (!ended) return;
    if (this.waiting >= MAX_WAITING_STEPS) return this.fail(new Error('the disk is too slow'));
    this.waiting++;
    this.enqueue(() => this.write(ended).finally(() => void this.waiting--));
  }

  private async write(ended: StepSums): Promise<void> {
    await this.catchUp();
    const rows: KeyedRow[] = [];
    await inTurns(ended.keys(), (identity) => rows.push([keyOf(identity), ended.row(identity)!]));
    // A full disk may have space for one level only, and each of them should get its rows.
    const failures: unknown[] = [await attempt(() => this.files.append(ended.time, rows))];
    for (const coarse of this.coarse) failures.push(await attempt(() => addStep(coarse, rows)));
    const failure = failures.find((one) => one !== undefined);
    if (failure) throw failure;
    this.isFailing = false;
  }

  /** Computes the coarse steps that had not ended, or were not written, when the service was stopped or killed. */
  private catchUp(): Promise<void> {
    this.caughtUp ??= (async () => {
      const now = this.deps.clock.now();
      for (const coarse of this.coarse) {
        const newest = await coarse.files.newest(now);
        const from = newest === undefined ? 0 : newest + coarse.level.stepMs;
        await this.files.forEachStep(from, now, (rows) => addStep(coarse, rows));
      }
    })().catch((error: unknown) => this.fail(error));
    return this.caughtUp;
  }

  private levelOf(range: StoredRange) {
    if (range === LEVELS[0].range) return { level: LEVELS[0], files: this.files, sums: () => undefined };
    const coarse = this.coarse.find(({ level }) => level.range === range)!;
    return { level: coarse.level, files: coarse.files, sums: () => coarse.sums };
  }

  /** Runs when all steps that have ended are written, so that none is missing or counted twice. */
  private afterQueue(read: () => Promise<void>): Promise<void> {
    this.enqueue(async () => {
      await this.catchUp();
      await read();
    });
    return this.queue;
  }

  private enqueue(work: () => Promise<void>): void {
    this.queue = this.queue.then(work).catch((error: unknown) => this.fail(error));
  }

  /** Once, until a step was written again. */
  private fail(error: unknown): void {
    if (!this.isFailing) this.log.warn({ reason: messageOf(error) }, 'a part of the usage history was not written');
    this.isFailing = true;
  }
}

/**
 * Adds the rows of a fine step to a coarse one, and writes the one before when that has ended.
 * @throws the error of that write; the rows are added anyway
 */
async function addStep(coarse: Coarse, rows: readonly KeyedRow[]): Promise<void> {
  const [first] = rows;
  if (!first) return;
  const step = floorTo(first[1].time, coarse.level.stepMs);
  const ended = coarse.sums?.time === step ? undefined : coarse.sums;
  const sums = ended || !coarse.sums ? (coarse.sums = new StepSums(step)) : coarse.sums;
  await inTurns(rows, ([key, row]) => sums.add(key, row));
  if (!ended) return;
  const complete: KeyedRow[] = [];
  await inTurns(ended.keys(), (key) => complete.push([key, ended.row(key)!]));
  await coarse.files.append(ended.time, complete);
}

/**
 * The context is part of it, because the administrators of one can choose the uids in it, and the uid because another
 * instance can have the same name.
 */
const identityOf = ({ ref, uid }: SampledInstance): string => `${formatRef(ref)} ${uid}`;

const keyOf = (identity: string): string => hash('sha256', identity, 'buffer').toString('latin1', 0, KEY_BYTES);

async function attempt(work: () => Promise<void>): Promise<unknown> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return error;
  }
}
