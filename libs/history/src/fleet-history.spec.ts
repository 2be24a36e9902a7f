import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatRef, type VirtualMachine } from '@headgate/domain-contracts';
import { buildContainer, buildVm, FixedClock } from '@headgate/testing';
import { FleetHistory } from './fleet-history.js';
import type { ChangesQuery, PastChange, PastFleet, RecordedContext, RecordedEntry, RecordedEvent } from './recorded.js';
import { RandomFleet, textOf } from './testing/random-fleet.js';

const FIRST = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;
const DAY = 86_400_000;
const UP: RecordedContext = { context: 'lab', kind: 'memory', state: 'up' };
const LOST: RecordedContext = { ...UP, state: 'lost', reason: 'lab does not answer.' };

/** A fleet that a test changes. */
class SmallFleet {
  readonly known = new Map<string, RecordedEntry>();
  states: RecordedContext[] = [UP];
  history!: FleetHistory;

  entries = (): Iterable<RecordedEntry> => this.known.values();
  contexts = (): readonly RecordedContext[] => this.states;

  put(instance: VirtualMachine, more: Partial<RecordedEntry> = {}): void {
    const entry = { instance, stale: false, ...more };
    this.known.set(formatRef(instance.ref), entry);
    this.record({ type: 'changed', entry });
  }

  remove(name: string, isDetached = false): void {
    const key = `vm/lab/default/${name}`;
    const { instance } = this.known.get(key)!;
    this.known.delete(key);
    this.record({ type: 'removed', instance, ...(isDetached && { isDetached }) });
  }

  setState(state: RecordedContext): void {
    this.states = [state];
    this.record({ type: 'status', state });
  }

  private record(event: RecordedEvent): void {
    this.history?.record(event);
  }
}

const vm = (name: string, more: Partial<VirtualMachine> = {}): VirtualMachine =>
  buildVm({ ...more, uid: more.uid ?? `uid-${name}`, ref: { name } });

describe('the history of the fleet', () => {
  let folder: string;
  let clock: FixedClock;
  let fleet: SmallFleet;
  let warnings: string[];
  let opened: FleetHistory[];
  let minFreeBytes: number;

  const log = { info: () => undefined, warn: (_fields: object, text: string) => void warnings.push(text) };
  const files = (): string[] => readdirSync(folder).toSorted();
  const pathOf = (index: number): string => join(folder, files().at(index)!);

  const open = async (more: { days?: number; maxBytes?: number } = {}): Promise<FleetHistory> => {
    const options = { days: 30, maxBytes: 2 ** 30, ...more };
    const history = new FleetHistory({
      folder,
      clock,
      fleet,
      log,
      ...options,
      get minFreeBytes() {
        return minFreeBytes;
      },
    });
    opened.push(history);
    fleet.history = history;
    await history.start();
    return history;
  };
  /** The next process, after a kill: nothing else is written by the one before. */
  const kill = (): void => {
    clock = new FixedClock(clock.now());
  };
  const namesOf = ({ entries }: PastFleet): string[] => entries.map(({ instance }) => instance.ref.name).toSorted();
  const namesAt = async (time: number): Promise<string[]> => namesOf(await fleet.history.at(time));
  const changes = async (query: Partial<ChangesQuery> = {}) =>
    fleet.history.changes({ from: FIRST, to: Number.MAX_SAFE_INTEGER, limit: 1000, ...query });
  const summary = (all: readonly PastChange[]): string[] =>
    all.map((change) =>
      change.type === 'gap' ? 'gap' : `${change.type} ${(change.after ?? change.before)!.instance.ref.name}`,
    );

  beforeEach(() => {
    folder = join(mkdtempSync(join(tmpdir(), 'headgate-history-')), 'history');
    clock = new FixedClock();
    fleet = new SmallFleet();
    warnings = [];
    opened = [];
    minFreeBytes = 0;
  });

  afterEach(async () => {
    for (const one of opened) await one.close();
    rmSync(join(folder, '..'), { recursive: true });
  });

  test('has the list before and after each change, to the millisecond', async () => {
    fleet.put(vm('web'), { folder: 'prod' });
    await open();
    const start = clock.now();
    clock.advance(10);
    fleet.put(vm('web', { status: 'Running', ip: '10.0.0.1' }), { folder: 'prod' });
    clock.advance(10);
    fleet.put(vm('web', { status: 'Stopped' }));
    fleet.put(vm('db'));
    clock.advance(10);
    fleet.remove('web');
    clock.advance(10);
    const { history } = fleet;
    expect(await history.at(start + 9)).toEqual({
      entries: [{ instance: vm('web'), stale: false, folder: 'prod' }],
      contexts: [UP],
    });
    const [running] = (await history.at(start + 10)).entries;
    expect(running).toEqual({
      instance: vm('web', { status: 'Running', ip: '10.0.0.1' }),
      stale: false,
      folder: 'prod',
    });
    const [stopped] = (await history.at(start + 29)).entries;
    expect(stopped).toEqual({ instance: vm('web'), stale: false });
    expect(await namesAt(start + 29)).toEqual(['db', 'web']);
    expect(await namesAt(clock.now())).toEqual(['db']);
  });

  test('has lost contexts and their stale entries as the list had them', async () => {
    fleet.put(vm('web'));
    await open();
    const start = clock.now();
    clock.advance(10);
    fleet.setState(LOST);
    fleet.put(vm('web'), { stale: true });
    expect(await fleet.history.at(start + 9)).toMatchObject({ contexts: [UP], entries: [{ stale: false }] });
    expect(await fleet.history.at(start + 10)).toMatchObject({ contexts: [LOST], entries: [{ stale: true }] });
  });

  test('records nothing when nothing is different', async () => {
    fleet.put(vm('web'));
    await open();
    fleet.put(vm('web', { tags: [] }));
    fleet.put({ ...vm('web'), node: undefined } as unknown as VirtualMachine);
    expect((await changes()).changes).toEqual([]);
  });

  test('refuses times before the first record and in the future, and times when there are no records', async () => {
    const early = new FleetHistory({ folder, clock, fleet, days: 30, maxBytes: 2 ** 30 });
    await expect(early.at(clock.now())).rejects.toThrow('no records of that time');
    expect(existsSync(folder)).toBe(false);
    await open();
    await expect(fleet.history.at(clock.now() - 1)).rejects.toThrow(
      'at: the history of the fleet begins at 2026-01-01T00:00:00.000Z; use a later time.',
    );
    await expect(fleet.history.at(clock.now() + 1)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });

  test('writes the changes of a second together', async () => {
    await open();
    const size = () => statSync(pathOf(0)).size;
    const before = size();
    for (let index = 0; index < 50; index++) fleet.put(vm(`vm-${index}`));
    expect(size()).toBe(before);
    clock.advance(1000);
    await fleet.history.at(clock.now());
    const written = size();
    expect(written).toBeGreaterThan(before);
    await fleet.history.at(clock.now());
    expect(size()).toBe(written);
  });

  test('says so for a moment in a gap, which ends with a restart', async () => {
    fleet.put(vm('web'));
    const first = await open();
    clock.advance(100);
    await first.close();
    const end = clock.now();
    fleet.remove('web');
    fleet.put(vm('db'));
    clock.advance(5000);
    await open();
    const again = clock.now();
    clock.advance(10);
    expect(await fleet.history.at(end)).not.toHaveProperty('gap');
    const inside = await fleet.history.at(end + 1);
    expect([namesOf(inside), inside.gap]).toEqual([['web'], { from: end, to: again }]);
    expect(await fleet.history.at(again)).not.toHaveProperty('gap');
    expect(await namesAt(again)).toEqual(['db']);
    const found = (await changes()).changes;
    expect(summary(found)).toEqual(['gap', 'added db', 'removed web']);
    expect(found).toMatchObject([
      { since: end, time: again },
      { time: again, isFromGap: true },
      { time: again, isFromGap: true },
    ]);
    expect(files()).toHaveLength(1);
  });

  test('knows for each minute without changes that there were none, also of a killed process', async () => {
    fleet.put(vm('web'));
    await open();
    const start = clock.now();
    for (let minute = 0; minute < 10; minute++) {
      clock.advance(MINUTE);
      await fleet.history.at(clock.now());
    }
    kill();
    clock.advance(10 * MINUTE);
    await open();
    expect((await fleet.history.at(start + 10 * MINUTE)).gap).toBeUndefined();
    expect((await fleet.history.at(start + 10 * MINUTE + 1)).gap).toEqual({
      from: start + 10 * MINUTE,
      to: start + 20 * MINUTE,
    });
  });

  test.each([1, 7, 27, 40])('cuts a torn end off, %d bytes of it', async (bytes) => {
    fleet.put(vm('web'));
    await open();
    clock.advance(1000);
    fleet.put(vm('web', { status: 'Running' }));
    await fleet.history.at(clock.now());
    const complete = statSync(pathOf(0)).size;
    clock.advance(1000);
    fleet.put(vm('web', { status: 'Paused' }));
    await fleet.history.at(clock.now());
    kill();
    truncateSync(pathOf(0), complete + bytes);
    clock.advance(5000);
    await open();
    expect(warnings).toEqual(['the damaged end of the history of the fleet was removed']);
    const statusAt = async (time: number) =>
      (await fleet.history.at(time)).entries.map(({ instance }) => (instance as VirtualMachine).status);
    expect(await statusAt(clock.now() - 6000)).toEqual(['Running']);
    expect((await fleet.history.at(clock.now() - 1)).gap?.from).toBe(clock.now() - 6000);
    expect(await statusAt(clock.now())).toEqual(['Paused']);
  });

  test('leaves out what follows a damaged byte, up to the next file', async () => {
    const start = clock.now();
    fleet.put(vm('web'));
    await open();
    const damaged = statSync(pathOf(0)).size + 40;
    clock.advance(1000);
    fleet.put(vm('db'));
    await fleet.history.at(clock.now());
    clock.advance(DAY);
    await fleet.history.at(clock.now());
    expect(files()).toHaveLength(2);
    const content = readFileSync(pathOf(0));
    content[damaged]! ^= 1;
    writeFileSync(pathOf(0), content);
    expect(await fleet.history.at(start + 2000)).toMatchObject({ gap: { from: start, to: clock.now() } });
    expect(await namesAt(start + 2000)).toEqual(['web']);
    expect(await namesAt(clock.now())).toEqual(['db', 'web']);
    expect(summary((await changes()).changes)).toEqual(['gap']);
    // Even the beginning of a file may be damaged: the one before has the last known state.
    writeFileSync(pathOf(1), Buffer.alloc(100));
    kill();
    await open();
    expect(warnings).toEqual(['a file of the history of the fleet is damaged']);
    expect(await namesAt(clock.now())).toEqual(['db', 'web']);
  });

  test('removes files that a killed process has not finished, and no others', async () => {
    await open();
    await fleet.history.close();
    const other = join(folder, 'notes.txt');
    writeFileSync(`${pathOf(0)}.part`, 'half');
    appendFileSync(other, 'of the operator');
    await open();
    expect(files().filter((name) => name.endsWith('.part'))).toEqual([]);
    expect(existsSync(other)).toBe(true);
  });

  test('keeps 30 days: the oldest files are removed, and the newest days stay exact', async () => {
    fleet.put(vm('web'));
    await open();
    const start = clock.now();
    for (let day = 1; day <= 40; day++) {
      clock.advance(DAY);
      fleet.put(vm(`day-${day}`));
      await fleet.history.at(clock.now());
    }
    expect(files().length).toBeLessThanOrEqual(33);
    await expect(fleet.history.at(start + 8 * DAY - 1)).rejects.toThrow('begins at');
    expect(await namesAt(start + 11 * DAY)).toHaveLength(12);
    expect(await namesAt(start + 11 * DAY - 1)).toHaveLength(11);
  });

  test('keeps so many bytes, whatever changes', async () => {
    const maxBytes = 512 * 1024;
    const random = new RandomFleet(5, 200, (event) => fleet.history?.record(event));
    fleet.entries = () => random.entries();
    fleet.contexts = () => random.contexts();
    await open({ maxBytes });
    for (let round = 0; round < 120; round++) {
      for (let count = 0; count < 200; count++) random.changeOne();
      clock.advance(500);
      await fleet.history.at(clock.now());
      const bytes = files().reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
      expect(bytes).toBeLessThanOrEqual(maxBytes);
    }
    expect(files().length).toBeGreaterThan(5);
    const expected = textOf({ entries: random.entries(), contexts: random.contexts() });
    expect(textOf(await fleet.history.at(clock.now()))).toBe(expected);
  });

  test('keeps everything when the clock is wrong for a while', async () => {
    fleet.put(vm('web'));
    await open();
    const start = clock.now();
    clock.advance(10 * MINUTE);
    await fleet.history.close();
    // In the year 2099.
    clock = new FixedClock(Date.UTC(2099, 0, 1));
    await open();
    fleet.put(vm('future'));
    await fleet.history.close();
    clock = new FixedClock(start + 20 * MINUTE);
    await open();
    fleet.put(vm('db'));
    expect(await namesAt(start + MINUTE)).toEqual(['web']);
    expect(await namesAt(clock.now())).toEqual(['db', 'future', 'web']);
  });

  test('does not go back in time when the clock does, by a little or a lot', async () => {
    await open();
    const start = clock.now();
    clock.advance(10 * MINUTE);
    fleet.put(vm('a'));
    await fleet.history.at(clock.now());
    const shift = (ms: number) => {
      const now = clock.now.bind(clock);
      clock.now = () => now() - ms;
    };
    shift(5000);
    fleet.put(vm('b'));
    expect(await namesAt(clock.now())).toEqual(['a', 'b']);
    expect(files()).toHaveLength(1);
    shift(5 * MINUTE);
    fleet.put(vm('c'));
    expect(await namesAt(clock.now())).toEqual(['a', 'b', 'c']);
    expect(await namesAt(start + 1)).toEqual([]);
    expect(files()).toHaveLength(2);
    const all = (await changes()).changes;
    expect(summary(all)).toEqual(['added a', 'added b', 'added c']);
    expect(summary((await changes({ from: start + 10 * MINUTE })).changes)).toEqual(['added a', 'added b']);
  });

  test('pauses on a full disk, says so once, and goes on with a gap', async () => {
    fleet.put(vm('web'));
    await open();
    clock.advance(1000);
    fleet.put(vm('db'));
    await fleet.history.at(clock.now());
    const full = clock.now();
    minFreeBytes = Number.MAX_SAFE_INTEGER;
    // The limit is that of the next start of the recording.
    await fleet.history.close();
    clock.advance(1000);
    await open();
    fleet.put(vm('missed'));
    expect(fleet.history.status).toMatchObject({ state: 'paused', since: clock.now(), reason: /free/ });
    for (let retry = 0; retry < 5; retry++) {
      clock.advance(10_000);
      await fleet.history.at(full);
    }
    expect(warnings).toEqual(['the history of the fleet is not recorded']);
    expect(await fleet.history.at(full + 10_000)).toMatchObject({ gap: { from: full } });
    expect((await fleet.history.at(full + 10_000)).gap).not.toHaveProperty('to');
    minFreeBytes = 0;
    clock.advance(10_000);
    expect(await namesAt(clock.now())).toEqual(['db', 'missed', 'web']);
    expect(fleet.history.status).toEqual({ state: 'recording' });
    expect(summary((await changes({ from: full + 1 })).changes)).toEqual(['gap', 'added missed']);
  });

  test('pauses when the folder can not be written, and the service goes on', async () => {
    writeFileSync(folder, 'a file');
    await open();
    fleet.put(vm('web'));
    expect(fleet.history.status.state).toBe('paused');
    rmSync(folder);
    clock.advance(10_000);
    expect(await namesAt(clock.now())).toEqual(['web']);
  });

  test('drops changes instead of memory when the disk does not keep up', async () => {
    await open();
    const entry = { instance: vm('web'), stale: false };
    for (let count = 0; count <= 200_000; count++) fleet.history.record({ type: 'changed', entry });
    expect(fleet.history.status).toMatchObject({ state: 'paused', reason: 'The disk is too slow.' });
    fleet.known.set('vm/lab/default/web', entry);
    clock.advance(10_000);
    expect(await namesAt(clock.now())).toEqual(['web']);
  });

  test('a context that was not reached at the start takes its instances along, but does not delete them', async () => {
    fleet.put(vm('web'));
    await open();
    clock.advance(1000);
    await fleet.history.close();
    fleet.known.clear();
    fleet.states = [LOST];
    clock.advance(1000);
    await open();
    expect(summary((await changes()).changes)).toEqual(['gap', 'detached web']);
  });

  describe('its changes', () => {
    beforeEach(async () => {
      fleet.put(vm('web'));
      await open();
      for (let index = 0; index < 10; index++) {
        clock.advance(100);
        fleet.put(vm('web', { tags: [`t${index}`] }));
        fleet.put(vm(`vm-${index}`));
      }
      await fleet.history.at(clock.now());
    });

    test('are read in pages, while others follow', async () => {
      const seen: string[] = [];
      let after: string | undefined;
      do {
        const page = await changes({ limit: 3, ...(after !== undefined && { after }) });
        seen.push(...summary(page.changes));
        after = page.cursor;
        if (seen.length < 12) fleet.put(vm('late', { tags: [String(seen.length)] }));
      } while (after !== undefined);
      const first = Array.from({ length: 10 }, (_none, index) => ['changed web', `added vm-${index}`]).flat();
      expect(seen).toEqual([...first, 'added late', 'changed late', 'changed late']);
    });

    test('have the entry before and after', async () => {
      const page = await changes({ ref: 'vm/lab/default/web', limit: 1 });
      expect(page.changes).toEqual([
        {
          type: 'changed',
          time: Date.UTC(2026, 0, 1) + 100,
          isFromGap: false,
          before: { instance: vm('web'), stale: false },
          after: { instance: vm('web', { tags: ['t0'] }), stale: false },
        },
      ]);
    });

    test('are chosen by time, instance, context and what a caller may see', async () => {
      const start = Date.UTC(2026, 0, 1);
      const count = async (query: Partial<ChangesQuery>) => (await changes(query)).changes.length;
      expect(await count({ from: start + 200, to: start + 400 })).toBe(4);
      expect(await count({ ref: 'vm/lab/default/vm-3' })).toBe(1);
      expect(await count({ context: 'other' })).toBe(0);
      expect(await count({ isVisible: ({ type }) => type === 'added' })).toBe(10);
    });

    test('begin with a gap until the first record, and are refused for a time before it', async () => {
      expect((await changes({ from: FIRST - 5000, limit: 2 })).changes).toMatchObject([
        { type: 'gap', since: FIRST - 5000, time: FIRST },
        { type: 'changed' },
      ]);
      const gap = await changes({ from: FIRST - 5000, limit: 1 });
      expect(summary(gap.changes)).toEqual(['gap']);
      expect(summary((await changes({ after: gap.cursor!, limit: 1 })).changes)).toEqual(['changed web']);
      await expect(changes({ from: 0, to: FIRST })).rejects.toThrow(
        'to: the history of the fleet begins at 2026-01-01T00:00:00.000Z; use a later time.',
      );
    });

    test('of a replaced instance are its end and a new one', async () => {
      clock.advance(10);
      fleet.put(vm('vm-1', { uid: 'another' }));
      expect(summary((await changes({ from: clock.now() })).changes)).toEqual(['removed vm-1', 'added vm-1']);
    });

    test('go on in the next file', async () => {
      clock.advance(DAY);
      fleet.remove('vm-1');
      clock.advance(100);
      fleet.remove('vm-2');
      expect(summary((await changes({ from: clock.now() - 200 })).changes)).toEqual(['removed vm-1', 'removed vm-2']);
      expect((await changes()).changes).toHaveLength(22);
      expect(files()).toHaveLength(2);
    });
  });

  test('has containers, too', async () => {
    const entry = { instance: buildContainer(), stale: false };
    fleet.known.set('ct/lab/default/box', entry);
    await open();
    expect((await fleet.history.at(clock.now())).entries).toEqual([entry]);
  });
});
