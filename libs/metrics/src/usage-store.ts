import {
  formatRef,
  type InstanceDirectory,
  type InstanceReading,
  type InstanceRef,
  type NodeReading,
  type ResourceReadings,
} from '@headgate/domain-contracts';
import { loadBetween, usageBetween, type TimedReading } from './rates.js';
import { SampleRing } from './sample-ring.js';
import { HISTORY_MS, MAX_LIVE_AGE_MS, type NodeLoad, type Sample, type SampleRecorder } from './usage.js';

interface TrackedInstance {
  readonly ref: InstanceRef;
  readonly uid: string;
  readonly ring: SampleRing;
  /** Of the newest sample, in milliseconds since the epoch. */
  time: number;
  /**
   * The base of the next rates; absent after the instance came from another context, whose counters are different ones.
   */
  last?: TimedReading<InstanceReading>;
}

interface TrackedNode {
  readonly last: TimedReading<NodeReading>;
  readonly load: NodeLoad;
}

/**
 * The samples of one context. Its size is bounded by the directory: only instances that the directory knows are
 * recorded, and those that it no longer knows are dropped.
 */
export class UsageStore {
  private readonly instances = new Map<string, TrackedInstance>();
  private nodes = new Map<string, TrackedNode>();

  constructor(
    private readonly directory: Pick<InstanceDirectory, 'get'>,
    private readonly recorder?: Pick<SampleRecorder, 'record'>,
  ) {}

  /** The number of instances with samples. */
  get size(): number {
    return this.instances.size;
  }

  get byteLength(): number {
    let sum = 0;
    for (const { ring } of this.instances.values()) sum += ring.byteLength;
    return sum;
  }

  record(time: number, { instances, nodes }: ResourceReadings): void {
    for (const reading of instances) this.recordInstance({ time, reading });
    this.nodes = new Map(
      nodes.map((reading) => {
        const last = { time, reading };
        return [reading.name, { last, load: loadBetween(this.nodes.get(reading.name)?.last, last) }];
      }),
    );
    this.prune(time);
  }

  /** Drops the instances that no longer exist, and those that have not run for as long as samples are kept. */
  prune(now: number): void {
    for (const [key, { ref, uid, time }] of this.instances) {
      if (time === now) continue;
      if (now - time > HISTORY_MS || this.directory.get(ref)?.uid !== uid) this.instances.delete(key);
    }
  }

  /** The newest sample, if it describes the present. */
  latest({ ref, uid }: { readonly ref: InstanceRef; readonly uid: string }, now: number): Sample | undefined {
    const tracked = this.find(ref, uid);
    return tracked && isLive(tracked.time, now) ? tracked.ring.latest : undefined;
  }

  /** Oldest first. */
  history({ ref, uid }: { readonly ref: InstanceRef; readonly uid: string }, now: number): Sample[] {
    return this.find(ref, uid)?.ring.samples().filter(({ time }) => now - time <= HISTORY_MS) ?? []; // prettier-ignore
  }

  /** Puts the samples that an instance had under another ref before those that it has under this one. */
  adopt({ ref, uid }: { readonly ref: InstanceRef; readonly uid: string }, earlier: readonly Sample[]): void {
    const known = this.find(ref, uid);
    const later = known?.ring.samples() ?? [];
    const [first] = later;
    const samples = [...earlier.filter(({ time }) => !first || time < first.time), ...later];
    const newest = samples.at(-1);
    if (!newest || samples.length === later.length) return;
    const ring = new SampleRing();
    for (const sample of samples) ring.append(sample);
    this.instances.set(formatRef(ref), { ...known, ref, uid, ring, time: newest.time });
  }

  nodeLoad(name: string, now: number): NodeLoad | undefined {
    const load = this.nodes.get(name)?.load;
    return load && isLive(load.time, now) ? load : undefined;
  }

  private find(ref: InstanceRef, uid: string): TrackedInstance | undefined {
    const tracked = this.instances.get(formatRef(ref));
    return tracked?.uid === uid ? tracked : undefined;
  }

  private recordInstance(current: TimedReading<InstanceReading>): void {
    const { ref } = current.reading;
    const instance = this.directory.get(ref);
    if (!instance) return;
    const key = formatRef(ref);
    const known = this.find(ref, instance.uid);
    if (known?.time === current.time) return;
    const usage = usageBetween(known?.last, current);
    const tracked = known ?? { ref, uid: instance.uid, ring: new SampleRing(), time: current.time };
    tracked.last = current;
    tracked.time = current.time;
    const memoryTotalBytes = usage.memoryTotalBytes ?? (instance.memoryBytes || null);
    const sample = { ...usage, memoryTotalBytes, time: current.time };
    tracked.ring.append(sample);
    if (!known) this.instances.set(key, tracked);
    this.recorder?.record(tracked, sample);
  }
}

const isLive = (time: number, now: number): boolean => Math.abs(now - time) <= MAX_LIVE_AGE_MS;
