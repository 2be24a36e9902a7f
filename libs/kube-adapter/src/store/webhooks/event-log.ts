import { randomUUID } from 'node:crypto';
import { DomainError, type Log, type WebhookEvent, type WebhookEventType } from '@headgate/domain-contracts';
import { SERVICE_EVENTS } from '../../api/resources.js';
import type { ClusterStore } from '../cluster-store.js';
import { WatchedObjects, type StoredObject } from '../watched-objects.js';

type NewEvent = Omit<WebhookEvent, 'number'>;

/** A part of the log. The parts are numbered from 0, and their events from `first`. */
export interface PartSpec {
  readonly index: number;
  readonly first: number;
  /** The ID of the last write, so that a write without a response can be found. */
  readonly write: string;
  readonly events: readonly NewEvent[];
}

/** A part with so many events, or bytes, is full: every replica decides so, and no event is added to it. */
const MAX_PART_EVENTS = 100;
const MAX_PART_BYTES = 262_144;
const MAX_ATTEMPTS = 20;

const isPart = ({ index, first, events }: Partial<PartSpec>): boolean =>
  Number.isInteger(index) &&
  Number.isInteger(first) &&
  Array.isArray(events) &&
  events.length > 0 &&
  events.every(({ type, time, body }) => [type, time, body].every((field) => typeof field === 'string'));

const isFull = (events: readonly NewEvent[]): boolean =>
  events.length >= MAX_PART_EVENTS || Buffer.byteLength(JSON.stringify(events)) >= MAX_PART_BYTES;

/**
 * The events of the webhooks in custom resources: parts that are extended until they are full, so that the number of an
 * event is never used again.
 */
export class EventLog {
  private readonly parts: WatchedObjects<PartSpec>;
  private reported = 0;
  private writing: Promise<unknown> = Promise.resolve();

  /** @param onEvents called with the events that another replica has appended */
  constructor(
    store: ClusterStore,
    private readonly maxEvents: number,
    private readonly onEvents: (events: readonly WebhookEvent[]) => void,
    log: Log,
  ) {
    this.parts = new WatchedObjects(store, {
      resource: SERVICE_EVENTS,
      subject: 'part of the event log',
      isComplete: isPart,
      onChange: (part) => {
        if (part) this.report();
      },
      log,
    });
  }

  async open(): Promise<void> {
    await this.parts.open();
    this.reported = this.newest;
  }

  /** Ends when everything is written. */
  async close(): Promise<void> {
    await this.writing;
    await this.parts.close();
  }

  get newest(): number {
    const last = this.last?.spec;
    return last ? last.first + last.events.length - 1 : 0;
  }

  get oldest(): number {
    const [first] = this.sorted();
    return first ? Math.max(first.spec.first, this.newest - this.maxEvents + 1) : 0;
  }

  next(position: number, types: readonly WebhookEventType[]): WebhookEvent | undefined {
    return this.after(position).find(({ type }) => types.includes(type));
  }

  positionBefore(time: string): number {
    const first = this.after(0).find((event) => event.time >= time);
    return (first?.number ?? this.newest + 1) - 1;
  }

  append(events: readonly NewEvent[]): Promise<void> {
    const done = this.writing.then(() => this.write(events));
    this.writing = done.catch(() => undefined);
    return done;
  }

  private async write(events: readonly NewEvent[]): Promise<void> {
    let left = events;
    for (let attempt = 1; left.length > 0; attempt++) {
      const { last } = this;
      const taken = !last || isFull(last.spec.events) ? await this.begin(last, left) : await this.extend(last, left);
      if (taken === 0 && attempt >= MAX_ATTEMPTS)
        throw new DomainError('CONFLICT', 'The event log was changed by another replica; try again.');
      left = left.slice(taken);
    }
    this.reported = Math.max(this.reported, this.newest);
    await this.deleteOld();
  }

  /** @returns how many of the events are stored */
  private async begin(last: StoredObject<PartSpec> | undefined, events: readonly NewEvent[]): Promise<number> {
    const index = last ? last.spec.index + 1 : 0;
    const first = last ? last.spec.first + last.spec.events.length : 1;
    const part = fitting([], events);
    const write = randomUUID();
    try {
      await this.parts.create(nameOf(index), { index, first, write, events: part });
      return part.length;
    } catch (error) {
      if (!DomainError.is(error, 'ALREADY_EXISTS')) throw error;
      const stored = await this.parts.read(nameOf(index));
      return stored?.spec.write === write ? part.length : 0;
    }
  }

  /** @returns how many of the events are stored; 0 when the part is full by now */
  private async extend(last: StoredObject<PartSpec>, events: readonly NewEvent[]): Promise<number> {
    const write = randomUUID();
    let taken = 0;
    await this.parts.update(nameOf(last.spec.index), (part) => {
      if (part.write === write) return undefined;
      taken = 0;
      if (isFull(part.events)) return undefined;
      const added = fitting(part.events, events);
      taken = added.length;
      return { index: part.index, first: part.first, write, events: [...part.events, ...added] };
    });
    return taken;
  }

  /**
   * Parts of which every event is beyond the bound. The last part stays, because it has the number of the next event.
   */
  private async deleteOld(): Promise<void> {
    const { oldest } = this;
    for (const part of this.sorted().slice(0, -1))
      if (part.spec.first + part.spec.events.length <= oldest) await this.parts.delete(part);
  }

  private report(): void {
    const events = this.after(this.reported);
    this.reported = Math.max(this.reported, this.newest);
    if (events.length > 0) this.onEvents(events);
  }

  private after(position: number): WebhookEvent[] {
    const from = Math.max(position + 1, this.oldest);
    return this.sorted().flatMap(({ spec: { first, events } }) =>
      first + events.length <= from
        ? []
        : events.slice(Math.max(0, from - first)).map((event, offset) => ({
            ...event,
            number: Math.max(first, from) + offset,
          })),
    );
  }

  private get last(): StoredObject<PartSpec> | undefined {
    return this.sorted().at(-1);
  }

  private sorted(): StoredObject<PartSpec>[] {
    return this.parts.all().sort((a, b) => a.spec.index - b.spec.index);
  }
}

const nameOf = (index: number): string => `events-${String(index).padStart(9, '0')}`;

/** The first of the new events that a part can take. */
function fitting(known: readonly NewEvent[], events: readonly NewEvent[]): NewEvent[] {
  const added: NewEvent[] = [];
  for (const event of events) {
    if (isFull([...known, ...added])) break;
    added.push(event);
  }
  return added;
}
