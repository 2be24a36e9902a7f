import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SILENT_LOG } from '@headgate/domain-contracts';
import { FixedClock } from '@headgate/testing';
import { BaseImageIndex } from './base-image-index.js';
import { BaseImages, isBaseImage, type StoredFile } from './base-images.js';

const DAY_MS = 24 * 60 * 60_000;
const SERVICE = '11111111-2222-3333-4444-555555555555';
const never = new AbortController().signal;

describe('BaseImages', () => {
  let folder: string;
  let volumes: Set<string>;
  let referenced: Set<string>;
  let clock: FixedClock;
  let bases: BaseImages;
  /** Runs while the references are being read. */
  let whileReading: () => Promise<void>;
  let beforeRemoval: () => Promise<void>;

  const open = (service = SERVICE) =>
    new BaseImages({
      pool: {
        path: () => Promise.resolve('/images'),
        has: (name) => Promise.resolve(volumes.has(name)),
        makePrivate: () => Promise.resolve(),
        volumes: () => Promise.resolve([...volumes]),
        remove: async (name) => {
          await beforeRemoval();
          volumes.delete(name);
        },
        moveInto: (name) => Promise.resolve(void volumes.add(name)),
      },
      index: new BaseImageIndex(join(folder, 'base-images.json')),
      references: {
        read: async () => {
          const now = new Set(referenced);
          await whileReading();
          return now;
        },
      },
      service: () => service,
      clock,
      log: SILENT_LOG,
      watermarkBytes: 0,
    });

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hgtest-bases-'));
    [volumes, referenced, clock] = [new Set(), new Set(), new FixedClock()];
    [whileReading, beforeRemoval] = [() => Promise.resolve(), () => Promise.resolve()];
    bases = open();
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const make = (): Promise<StoredFile> => Promise.resolve({ file: '/private/disk.qcow2', bytes: 1024 });
  const store = (identity: string): Promise<string> => {
    const name = bases.nameOf(identity, 'qcow2');
    return bases.hold(name, async () => {
      await bases.build(name, make, never);
      return name;
    });
  };

  test('finds an image by its identity, also after a restart', async () => {
    const name = await store('a');
    expect(isBaseImage(name)).toBe(true);
    expect(await bases.find(name)).toEqual({ name, path: `/images/${name}`, format: 'qcow2', bytes: 1024 });
    expect(await open().find(open().nameOf('a', 'qcow2'))).toMatchObject({ name });
    expect(await bases.find(bases.nameOf('b', 'qcow2'))).toBeUndefined();
    expect(bases.nameOf('a', 'raw')).not.toBe(name);
  });

  test('does not find an image that was removed with another program', async () => {
    const name = await store('a');
    volumes.delete(name);
    expect(await bases.find(name)).toBeUndefined();
  });

  test('does not use a volume that an interrupted transfer left, and replaces it', async () => {
    const name = bases.nameOf('a', 'qcow2');
    volumes.add(name);
    expect(await bases.find(name)).toBeUndefined();
    expect(await store('a')).toBe(name);
    expect(await bases.find(name)).toBeDefined();
  });

  test('lets a concurrent creation wait for the same image, and try itself when that fails', async () => {
    const name = bases.nameOf('a', 'qcow2');
    let fail = (_error: Error): void => undefined;
    const failing = bases.build(name, () => new Promise((_resolve, reject) => (fail = reject)), never);
    expect(bases.isBuilding(name)).toBe(true);
    const waiting = bases.awaitBuild(name, never);
    fail(new Error('cut'));
    await expect(failing).rejects.toThrow('cut');
    expect(await waiting).toBeUndefined();
    expect(bases.isBuilding(name)).toBe(false);

    let finish = (_file: StoredFile): void => undefined;
    const building = bases.build(name, () => new Promise((resolve) => (finish = resolve)), never);
    const other = bases.awaitBuild(name, never);
    const canceled = bases.awaitBuild(name, AbortSignal.abort());
    await expect(canceled).rejects.toThrow();
    finish(await make());
    expect(await other).toEqual(await building);
  });

  describe('the sweep', () => {
    test('removes images that have not been used for a week', async () => {
      const old = await store('old');
      clock.advance(6 * DAY_MS);
      const recent = await store('recent');
      await bases.sweep();
      expect([...volumes]).toEqual([old, recent]);
      clock.advance(1.5 * DAY_MS);
      await bases.sweep();
      expect([...volumes]).toEqual([recent]);
    });

    test('keeps an image for a week after its last use', async () => {
      const name = await store('a');
      clock.advance(6 * DAY_MS);
      await bases.find(name);
      clock.advance(6 * DAY_MS);
      await bases.sweep();
      expect([...volumes]).toEqual([name]);
    });

    test('never removes an image that is referred to, that another service stored, or that only looks similar', async () => {
      const used = await store('used');
      const foreign = open('99999999-0000-0000-0000-000000000000').nameOf('a', 'qcow2');
      for (const name of [foreign, 'base-11111111.qcow2', 'debian.qcow2', `${used}.bak`]) volumes.add(name);
      referenced.add(used);
      const before = [...volumes];
      clock.advance(30 * DAY_MS);
      await bases.sweep();
      expect(await bases.reclaim()).toBe(0);
      expect([...volumes]).toEqual(before);
    });

    test('removes the incomplete images of an earlier run immediately', async () => {
      const name = bases.nameOf('a', 'qcow2');
      volumes.add(name).add(`${name}.partial`);
      await bases.sweep();
      expect([...volumes]).toEqual([]);
    });

    test('keeps an image whose overlay is being created, or was created while the references were read', async () => {
      const name = await store('a');
      await bases.hold(name, async () => expect(await bases.reclaim()).toBe(0));
      whileReading = () => bases.hold(name, async () => void referenced.add(name));
      expect(await bases.reclaim()).toBe(0);
      expect([...volumes]).toEqual([name]);
    });

    test('makes a creation wait for the removal of its image, which it then builds again', async () => {
      const name = await store('a');
      let creation: Promise<unknown> | undefined;
      beforeRemoval = () => {
        creation = bases.hold(name, () => bases.find(name));
        return Promise.resolve();
      };
      expect(await bases.reclaim()).toBe(1);
      expect(creation).toBeDefined();
      expect(await creation).toBeUndefined();
      expect([...volumes]).toEqual([]);
    });

    test('removes nothing if the references can not be read', async () => {
      const name = await store('a');
      clock.advance(30 * DAY_MS);
      whileReading = () => Promise.reject(new Error('libvirt is gone'));
      await bases.sweep();
      expect([...volumes]).toEqual([name]);
    });
  });

  test('survives a damaged index', async () => {
    const name = await store('a');
    await writeFile(join(folder, 'base-images.json'), '{');
    referenced.add(name);
    bases = open();
    expect(await bases.find(name)).toBeUndefined();
    await store('a');
    expect(await bases.find(name)).toBeDefined();
    expect(await readdir(folder)).toEqual(['base-images.json']);
    expect(JSON.parse(await readFile(join(folder, 'base-images.json'), 'utf8'))).toHaveProperty([name]);
  });
});
