import 'reflect-metadata';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { formatRef, isVm, type Instance, type InstanceKind } from '@headgate/domain-contracts';
import { Fleet } from '@headgate/fleet';
import { buildContainer, buildVm, MemoryBackend, withStatus } from '@headgate/testing';
import { unreachable } from '../testing/edge.js';
import { TimedEdge } from '../testing/timed-edge.js';

const MOMENTS = 1000;
const STEPS = 1200;
const SEED = 42;
const FOLDERS = ['prod', 'prod/web', 'lab'];

/** Numbers from 0 to 1, the same in each run (mulberry32). */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The lists from a moment on, as bytes. */
interface Moment {
  readonly time: number;
  readonly lists: Readonly<Record<InstanceKind, string>>;
  readonly isPartial: boolean;
}

/** Random changes over two backends in memory, and a recording of the live lists. */
class Story {
  readonly edge = new TimedEdge();
  readonly random = seededRandom(SEED);
  readonly moments: Moment[] = [];
  /** Times in which nothing was recorded, without their ends. */
  readonly gaps: (readonly [from: number, to: number])[] = [];
  private created = 0;

  get fleet(): Fleet {
    return this.edge.service.app.get(Fleet, { strict: false });
  }

  async open(): Promise<void> {
    await this.edge.open();
    await this.follow();
  }

  async run(): Promise<void> {
    for (let step = 0; step < STEPS; step++) {
      if (step % 200 === 150) await this.restart();
      else if (step % 200 === 199) await this.kill();
      else await this.change();
      if (this.random() < 0.7) this.edge.pass(Math.ceil(this.random() * 3000));
    }
    this.edge.pass(1000);
  }

  /** The lists as of a time. */
  momentAt(time: number): Moment {
    return this.moments.findLast((moment) => moment.time <= time)!;
  }

  private async follow(): Promise<void> {
    await this.edge.untilRecording();
    this.note();
    this.fleet.subscribe(() => this.note());
  }

  private note(): void {
    const listOf = (kind: InstanceKind): string => Buffer.concat(this.fleet.snapshot(kind)).toString();
    const isPartial = this.fleet.states().some(({ state }) => state !== 'up');
    this.moments.push({ time: this.edge.now, lists: { vm: listOf('vm'), ct: listOf('ct') }, isPartial });
  }

  private async change(): Promise<void> {
    const { random, edge } = this;
    const backend = random() < 0.7 ? edge.lab : edge.other;
    const found = this.pick(backend.engine.all());
    const value = random();
    if (value < 0.15 || !found) backend.engine.put(this.create(backend));
    else if (value < 0.22) backend.engine.remove(found.ref);
    else if (value < 0.27) this.rename(backend, found);
    // The name stays, and the object is another one.
    else if (value < 0.3) backend.engine.put({ ...found, uid: `again-${++this.created}` });
    else if (value < 0.33) backend.engine.disconnect(unreachable);
    else if (value < 0.4) backend.engine.reconnect();
    else if (value < 0.5) await this.put(formatRef(found.ref));
    else if (value < 0.53) await this.moveFolder();
    else backend.engine.put(this.changed(found));
  }

  private create({ context }: MemoryBackend): Instance {
    const number = ++this.created;
    const ref = { context, name: `new-${number}` };
    return this.random() < 0.3
      ? buildContainer({ ref, uid: `uid-${number}` })
      : buildVm({ ref, uid: `uid-${number}`, cpu: 1 + (number % 8) });
  }

  private changed(instance: Instance): Instance {
    const tags = ['db', 'web', 'blue'].filter(() => this.random() < 0.5);
    if (!isVm(instance)) return { ...instance, tags, ready: this.random() < 0.5 };
    const status = this.pick(['Running', 'Stopped', 'Paused', 'CrashLoopBackOff'] as const)!;
    const changed = { ...withStatus(instance, status), tags };
    return status === 'CrashLoopBackOff' ? { ...changed, reason: 'The guest "kernel" has crashed.' } : changed;
  }

  private rename({ engine }: MemoryBackend, instance: Instance): void {
    engine.remove(instance.ref);
    engine.put({ ...instance, ref: { ...instance.ref, name: `renamed-${++this.created}` } as never });
  }

  private async put(ref: string): Promise<void> {
    const path = this.pick([...FOLDERS, undefined]);
    if (path === undefined) await this.edge.send('DELETE', `/api/folders/members?ref=${encodeURIComponent(ref)}`);
    else {
      await this.edge.send('POST', '/api/folders', { path });
      await this.edge.send('POST', '/api/folders/members', { path, ref });
    }
  }

  /** All members get another folder at the same moment. */
  private async moveFolder(): Promise<void> {
    const [from, to] = this.random() < 0.5 ? ['prod', 'stage'] : ['stage', 'prod'];
    await this.edge.send('POST', '/api/folders/move', { from, to });
  }

  private async restart(): Promise<void> {
    const stopped = this.edge.now;
    await this.edge.service.close();
    await this.away(stopped);
  }

  /** The files are as they were when they were written last, and the later changes are lost. */
  private async kill(): Promise<void> {
    const folder = join(this.edge.folder, 'fleet-history');
    const saved = `${folder}-saved`;
    await this.edge.at(this.edge.now);
    const written = this.edge.now;
    cpSync(folder, saved, { recursive: true });
    for (let count = 0; count < 5; count++) {
      this.edge.pass(10);
      await this.change();
    }
    await this.edge.service.close();
    rmSync(folder, { recursive: true });
    cpSync(saved, folder, { recursive: true });
    rmSync(saved, { recursive: true });
    await this.away(this.lastBefore(written));
  }

  /** The last recorded change: nothing says that there were no others after it. */
  private lastBefore(written: number): number {
    return this.momentAt(written).time;
  }

  private async away(since: number): Promise<void> {
    for (let count = 0; count < 5; count++) {
      const backend = this.pick([this.edge.lab, this.edge.other])!;
      backend.engine.put(this.create(backend));
    }
    this.edge.pass(60_000);
    this.gaps.push([since, this.edge.now]);
    await this.open();
  }

  private pick<T>(values: readonly T[]): T | undefined {
    return values[Math.floor(this.random() * values.length)];
  }
}

describe('a list as of a moment', () => {
  const story = new Story();

  afterAll(() => story.edge.close());

  test('equals a recording of the live lists at 1,000 random moments, over restarts and kills', async () => {
    await story.open();
    const first = story.edge.now;
    await story.run();
    let gaps = 0;
    let partial = 0;
    for (let count = 0; count < MOMENTS; count++) {
      const time = first + Math.floor(story.random() * (story.edge.now - first + 1));
      const kind: InstanceKind = story.random() < 0.7 ? 'vm' : 'ct';
      const { status, body, headers } = await story.edge.send(
        'GET',
        `/api/${kind}s?at=${new Date(time).toISOString()}`,
      );
      const gap = story.gaps.find(([from, to]) => from < time && time < to);
      const moment = story.momentAt(gap ? gap[0] : time);
      const expected = JSON.parse(moment.lists[kind]) as object[];
      const isPartial = gap !== undefined || moment.isPartial;
      expect([time, status, headers['svc-partial'], headers['svc-gap'] !== undefined]).toEqual([
        time,
        200,
        isPartial ? 'true' : undefined,
        gap !== undefined,
      ]);
      if (gap) expect(JSON.parse(body)).toEqual(expected.map((entry) => ({ ...entry, stale: true })));
      else expect(body === moment.lists[kind] ? '' : body).toBe(body === moment.lists[kind] ? '' : moment.lists[kind]);
      gaps += gap ? 1 : 0;
      partial += isPartial ? 1 : 0;
    }
    expect(gaps).toBeGreaterThan(20);
    expect(gaps).toBeLessThan(MOMENTS / 2);
    expect(partial).toBeGreaterThan(gaps);
  }, 120_000);
});
