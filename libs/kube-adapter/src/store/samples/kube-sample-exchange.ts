import { randomUUID } from 'node:crypto';
import { messageOf, SampleExchange, SILENT_LOG, type Log, type SampleRound } from '@headgate/domain-contracts';
import { SERVICE_SAMPLES } from '../../api/resources.js';
import type { ClusterStore } from '../cluster-store.js';
import { WatchedObjects, type StoredObject } from '../watched-objects.js';
import { decodeRound, encodeRound } from './sample-text.js';
import { hashedName } from '../hashed-name.js';

/** A part of the last round of a context. */
export interface SamplesSpec {
  readonly context: string;
  /** The ID of the round: the same in all of its parts. */
  readonly round: string;
  readonly time: number;
  readonly index: number;
  /** The number of parts. */
  readonly count: number;
  readonly data: string;
}

type Listener = (round: SampleRound) => void;

/** With the rest of the object, less than the 1 MiB that etcd takes by far. */
const MAX_DATA_CHARS = 900_000;

const nameOf = (context: string, index: number): string => `${hashedName('samples', context)}-${index}`;

const isSamples = ({ context, round, time, index, count, data }: Partial<SamplesSpec>): boolean =>
  [context, round, data].every((field) => typeof field === 'string') &&
  [time, index, count].every((field) => Number.isInteger(field));

export interface KubeSampleExchangeOptions {
  readonly log?: Log;
  /** The size of one object. */
  readonly maxDataChars?: number;
}

/**
 * SampleExchange in custom resources of a cluster: the last round of each context, in one object unless it is too large
 * for that.
 */
export class KubeSampleExchange extends SampleExchange {
  private readonly objects: WatchedObjects<SamplesSpec>;
  private readonly listeners = new Set<Listener>();
  /** The last round that was reported, by its context. */
  private readonly reported = new Map<string, string>();
  /**
   * The last round that this replica has published, by its context. Its watch event may come before the response of the
   * write.
   */
  private readonly published = new Map<string, string>();
  private readonly log: Log;
  private readonly maxDataChars: number;
  private reporting: Promise<void> = Promise.resolve();

  constructor(
    store: ClusterStore,
    { log = SILENT_LOG, maxDataChars = MAX_DATA_CHARS }: KubeSampleExchangeOptions = {},
  ) {
    super();
    this.log = log;
    this.maxDataChars = maxDataChars;
    this.objects = new WatchedObjects(store, {
      resource: SERVICE_SAMPLES,
      subject: 'resource usage',
      isComplete: isSamples,
      onChange: (object) => {
        if (object) this.report(object.spec.context);
      },
      // It is replaced in 15 seconds, and does not matter as much as the rest of the store.
      skipsUnreadable: true,
      log,
    });
  }

  open(): Promise<void> {
    return this.objects.open();
  }

  async close(): Promise<void> {
    this.listeners.clear();
    await this.objects.close();
    await this.reporting;
  }

  override async publish(round: SampleRound): Promise<void> {
    const { context, time } = round;
    const text = await encodeRound(round);
    const count = Math.ceil(text.length / this.maxDataChars);
    const id = randomUUID();
    this.published.set(context, id);
    for (let index = 0; index < count; index++) {
      const data = text.slice(index * this.maxDataChars, (index + 1) * this.maxDataChars);
      const spec: SamplesSpec = { context, round: id, time: Math.round(time), index, count, data };
      const name = nameOf(context, index);
      const known = this.objects.get(name);
      // Not repeated after a conflict: another replica is the leader, or the next round replaces this one.
      if (known) await this.objects.replace(known, spec);
      else await this.objects.create(name, spec);
    }
    for (const part of this.partsOf(context)) if (part.spec.index >= count) await this.objects.delete(part);
  }

  override subscribe(listener: Listener): () => void {
    this.listeners.add(listener);
    for (const context of new Set(this.objects.all().map(({ spec }) => spec.context))) this.report(context);
    return () => void this.listeners.delete(listener);
  }

  /** Reports the last round of a context, once all of its parts are known. */
  private report(context: string): void {
    this.reporting = this.reporting.then(async () => {
      const parts = this.partsOf(context).sort((a, b) => a.spec.index - b.spec.index);
      const [first] = parts;
      if (!first || this.listeners.size === 0) return;
      const { round, count, time } = first.spec;
      const ofRound = parts.filter(({ spec }) => spec.round === round && spec.index < count);
      if (ofRound.length < count || this.reported.get(context) === round) return;
      if (this.published.get(context) === round) return;
      this.reported.set(context, round);
      try {
        const decoded = await decodeRound(ofRound.map(({ spec }) => spec.data).join(''), context, time);
        for (const listener of [...this.listeners]) listener(decoded);
      } catch (error) {
        this.log.warn({ context, reason: messageOf(error) }, 'the resource usage of the leader was skipped');
      }
    });
  }

  private partsOf(context: string): StoredObject<SamplesSpec>[] {
    return this.objects.all().filter(({ spec }) => spec.context === context);
  }
}
