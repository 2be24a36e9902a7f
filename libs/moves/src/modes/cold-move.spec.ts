import { DomainError, formatRef, type DiskFilling } from '@headgate/domain-contracts';
import { buildVm, withStatus } from '@headgate/testing';
import type { MoveInput } from '../move-input.js';
import { Moving, refOf } from '../testing/moving.js';
import { Killed, TaskRun, type KillPoint } from '../testing/task-run.js';

const WEB = formatRef(refOf('web'));
const COPY = 'vm/other/default/web';
const STEPS = ['reserve', 'stop', 'copy', 'verify', 'commit', 'folder', 'delete'] as const;
const KILLS = STEPS.flatMap((step): KillPoint[] => [
  { step, when: 'before' },
  { step, when: 'after' },
]);

describe('a cold move', () => {
  let moving: Moving;
  beforeEach(() => (moving = new Moving()));

  const begin = (input: Partial<MoveInput> = {}): TaskRun<MoveInput> => {
    const wasRunning = moving.lab.engine.vm(refOf('web')).status === 'Running';
    return new TaskRun(
      moving.task,
      {
        id: '0b3a2d0e-0000-4000-8000-000000000001',
        source: WEB,
        destination: COPY,
        uid: 'uid-web',
        wasRunning,
        deleteSource: false,
        mapping: { networks: {}, storageClasses: {} },
        ...input,
      },
      moving.clock,
    );
  };
  const source = () => (moving.lab.engine.has(refOf('web')) ? moving.lab.engine.vm(refOf('web')).status : 'deleted');
  const expectComplete = (): void => {
    const { status, disk = Buffer.alloc(0) } = moving.copied() ?? { status: 'none' };
    expect(status).toBe('Stopped');
    expect(disk.equals(moving.disk.subarray(0, disk.length))).toBe(true);
    expect(moving.disk.subarray(disk.length).every((byte) => byte === 0)).toBe(true);
  };
  const expectUndone = (status: string): void => {
    expect([moving.copied(), source()]).toEqual([undefined, status]);
  };

  test('copies a stopped VM, and keeps the source', async () => {
    const run = begin();
    const result = await run.run();
    expectComplete();
    expect(source()).toBe('Stopped');
    // Two runs of 64 KiB at the beginning and three or four around the data.
    expect(result).toMatchObject({ destination: COPY, writtenBytes: 64 * 1024 + 4 * 64 * 1024 });
    expect(result).not.toHaveProperty('downtimeSeconds');
  });

  test('reports what the copy has lost at the destination, in its log and in its result', async () => {
    const ingest = moving.other.require('diskIngest');
    const begin_ = ingest.begin.bind(ingest);
    const lost = {
      what: 'The network card nic0: no network is active',
      category: 'devices',
      severity: 'warning',
    } as const;
    ingest.begin = async (spec) => [...(await begin_(spec)), lost];
    const run = begin();
    expect(await run.run()).toMatchObject({ destination: COPY, losses: [lost] });
    expect(run.log.join('\n')).toContain('The copy is without this: The network card nic0: no network is active');
    moving = new Moving();
    expect(await begin().run()).not.toHaveProperty('losses');
  });

  describe('between two contexts that have their disks on this machine', () => {
    const local = { path: '/images/web.qcow2', format: 'qcow2' };
    const fillings: DiskFilling[] = [];
    /** @param act before the disk is filled */
    const given = (act: (call: number) => void = () => undefined): void => {
      fillings.length = 0;
      moving.lab.require('diskSource').localDisk = async () => local;
      moving.other.require('diskIngest').fill = async (_target, _disk, filling) => {
        fillings.push(filling);
        act(fillings.length);
        filling.signal.throwIfAborted();
        moving.other.engine.disks.set(`${COPY} vda`, moving.disk);
        filling.report(8 * 1024 ** 2);
        return 12_345;
      };
      moving.other.require('diskIngest').write = () => Promise.reject(new Error('Nothing is streamed.'));
    };

    test('lets the destination copy the disk, and compares both ends as always', async () => {
      given();
      let compared = 0;
      const ingest = moving.other.require('diskIngest');
      const hashes = ingest.hashes.bind(ingest);
      ingest.hashes = (...args) => (compared++, hashes(...args));
      expect(await begin().run()).toMatchObject({ writtenBytes: 12_345 });
      expectComplete();
      expect([fillings.map(({ from }) => from), compared]).toEqual([[local], 1]);
    });

    test('is undone when the copy differs, when it fails, and when it is canceled meanwhile', async () => {
      for (const problem of ['differs', 'fails', 'canceled']) {
        moving = new Moving();
        moving.start();
        const run = begin({ deleteSource: true });
        given(() => {
          if (problem === 'fails') throw new DomainError('INSUFFICIENT_STORAGE', 'The disk is full.');
          if (problem === 'canceled') run.abort.abort(new Error('Canceled by ann.'));
          if (problem === 'differs') moving.lab.engine.disks.set(`${WEB} vda`, Buffer.from('written meanwhile'));
        });
        await expect(run.run()).rejects.toThrow(/differs|full|Canceled/);
        expectUndone('Running');
      }
    });

    test('fills the disk again after the service was killed', async () => {
      given((call) => {
        if (call === 1) throw new Killed();
      });
      const run = begin();
      await expect(run.run()).rejects.toBeInstanceOf(Killed);
      expect(moving.copied()?.status).toBe('Provisioning');
      await run.after(moving.task).restart();
      expectComplete();
      expect(fillings).toHaveLength(2);
    });

    test('streams the disk when the destination can not read files, or the source has none', async () => {
      moving.lab.require('diskSource').localDisk = async () => local;
      await begin().run();
      expectComplete();
      moving = new Moving();
      moving.other.require('diskIngest').fill = () => Promise.reject(new Error('There is no file.'));
      await begin().run();
      expectComplete();
    });
  });

  test('stops a VM that runs, leaves both ends stopped, and reports the downtime', async () => {
    moving.start();
    expect(await begin().run()).toMatchObject({ downtimeSeconds: 0 });
    expectComplete();
    expect(source()).toBe('Stopped');
  });

  test('remembers how long the guest took to shut down, also for the copy', async () => {
    moving.start();
    const power = moving.lab.require('power');
    const apply = power.apply.bind(power);
    power.apply = (...args) => (moving.clock.advance(3100), apply(...args));
    expect(await begin({ os: 'debian12' }).run()).toMatchObject({ shutdownSeconds: 3.1, downtimeSeconds: 3 });
    const { uid } = moving.other.engine.vm({ ...refOf('web'), context: 'other' });
    const keys = ['vm/uid-web', `vm/${uid}`, 'os/debian12'];
    expect(keys.map((key) => moving.shutdownTimes.of(key))).toEqual([3100, 3100, 3100]);
  });

  test('takes tags, size, firmware, network cards and cloud-init data along', async () => {
    const portable = {
      firmware: 'uefi-secure',
      autostart: true,
      cloudInit: '#cloud-config\n',
      nics: [{ name: 'nic0', network: 'br0', mac: '52:54:00:00:00:01', model: 'e1000e' }],
    } as const;
    moving.lab.engine.portable.set(WEB, portable);
    await begin({ mapping: { networks: { br0: 'lan-2' }, storageClasses: {} } }).run();
    const target = { ...refOf('web'), context: 'other' };
    expect(moving.other.engine.vm(target)).toMatchObject({ tags: ['prod'], cpu: 2, memoryBytes: 4 * 1024 ** 3 });
    expect(moving.other.engine.portable.get(COPY)).toMatchObject({
      ...portable,
      nics: [{ ...portable.nics[0], network: 'lan-2' }],
    });
  });

  describe('of a VM with variables of its firmware', () => {
    const variables = (context: string, name = 'web'): string => `vm/${context}/default/${name} variables`;
    const stored = Buffer.from('boot entry 3, enrolled keys');
    beforeEach(() => {
      moving.lab.engine.portable.set(WEB, { firmware: 'uefi' });
      moving.lab.engine.disks.set(variables('lab'), stored);
    });

    test('copies them with the disks', async () => {
      const run = begin({ copiesFirmwareVariables: true });
      await run.run();
      expectComplete();
      expect(moving.other.engine.disks.get(variables('other'))).toEqual(stored);
      expect(run.log).toContainEqual(expect.stringContaining('variables of the firmware'));
    });

    test('is undone when they differ, and keeps the source', async () => {
      moving.start();
      const ingest = moving.other.require('diskIngest');
      ingest.readFirmwareVariables = async () => Buffer.from('something else');
      await expect(begin({ copiesFirmwareVariables: true, deleteSource: true }).run()).rejects.toThrow(/differ/);
      expectUndone('Running');
    });

    test('does not delete a source whose variables have changed while the service was away', async () => {
      const run = begin({ copiesFirmwareVariables: true, deleteSource: true });
      await expect(run.run({ step: 'delete', when: 'before' })).rejects.toBeInstanceOf(Killed);
      moving.lab.engine.disks.set(variables('lab'), Buffer.from('another boot entry'));
      await expect(run.restart()).rejects.toThrow(/variables of its firmware have changed/);
      expect(source()).toBe('Stopped');
    });

    test('that begins without them, as an earlier release did, copies only the disks', async () => {
      await begin().run();
      expectComplete();
      expect(moving.other.engine.disks.has(variables('other'))).toBe(false);
    });
  });

  test('ends when the list shows the copy as complete, and no longer the source that was to be deleted', async () => {
    const { engine } = moving.lab;
    const web = engine.vm(refOf('web'));
    await begin({ deleteSource: true }).run();
    const waitsFor = (ref: string) => moving.waits.filter((wait) => wait.ref === ref).at(-1);
    const copy = moving.other.engine.vm({ ...refOf('web'), context: 'other' });
    expect([undefined, withStatus(copy, 'Provisioning'), copy].map((vm) => waitsFor(COPY)?.isMet(vm))).toEqual([
      false,
      false,
      true,
    ]);
    const another = buildVm({ ref: { name: 'web' }, uid: 'uid-later' });
    expect([web, another, undefined].map((vm) => waitsFor(WEB)?.isMet(vm))).toEqual([false, true, true]);
  });

  test('puts the copy into the folder of the source', async () => {
    moving.records.folders.set(WEB, 'prod/web');
    await begin().run();
    expect([...moving.records.folders]).toEqual([
      [WEB, 'prod/web'],
      [COPY, 'prod/web'],
    ]);
    const { uid } = moving.other.engine.vm({ ...refOf('web'), context: 'other' });
    expect([moving.records.uids.get(COPY), uid === 'uid-web']).toEqual([uid, false]);
  });

  test('does not put a VM that has replaced the copy into the folder, which keeps the deleted source as missing', async () => {
    moving.records.folders.set(WEB, 'prod/web');
    const run = begin({ deleteSource: true });
    await expect(run.run({ step: 'commit', when: 'finished' })).rejects.toBeInstanceOf(Killed);
    const { engine } = moving.other;
    const copy = engine.vm({ ...refOf('web'), context: 'other' });
    engine.remove(copy.ref);
    engine.put({ ...copy, uid: 'theirs' });
    // The move goes on after the copy was complete, and finds that it is gone.
    const ingest = moving.other.require('diskIngest');
    const state = ingest.state.bind(ingest);
    let isResumed = false;
    ingest.state = async (target) => (isResumed ? state(target) : ((isResumed = true), 'committed'));
    await run.restart();
    expect([...moving.records.folders]).toEqual([[WEB, 'prod/web']]);
    expect(run.log).toContainEqual(expect.stringContaining('could not be put into the folder'));
  });

  test('deletes the source at the end if that was asked for, and its place in the folder', async () => {
    moving.records.folders.set(WEB, 'prod/web');
    await begin({ deleteSource: true }).run();
    expectComplete();
    expect(source()).toBe('deleted');
    expect([...moving.records.folders.keys()]).toEqual([COPY]);
    expect(moving.audit.entries).toMatchObject([
      { action: 'delete after move', ref: WEB, caller: 'ann', outcome: 'ok' },
    ]);
  });

  test.each([false, true])(
    'undoes everything when a step fails, and starts the source again: %s',
    async (isRunning) => {
      for (const method of ['begin', 'write', 'hashes', 'commit'] as const) {
        moving = new Moving();
        if (isRunning) moving.start();
        const ingest = moving.other.require('diskIngest');
        const failure = new DomainError('BACKEND_FAILED', `${method} fails.`);
        ingest[method] = (() => {
          throw failure;
        }) as never;
        await expect(begin({ deleteSource: true }).run()).rejects.toThrow(`${method} fails.`);
        expectUndone(isRunning ? 'Running' : 'Stopped');
      }
    },
  );

  test('undoes everything when the copy differs from the source', async () => {
    moving.start();
    const ingest = moving.other.require('diskIngest');
    const write = ingest.write.bind(ingest);
    ingest.write = async (...args) => {
      const writer = await write(...args);
      return { ...writer, write: (offset, data) => writer.write(offset, Buffer.alloc(data.length, 'x')) };
    };
    await expect(begin({ deleteSource: true }).run()).rejects.toThrow('differs from the source in the block 0');
    expectUndone('Running');
  });

  test('undoes everything when the source changes between copy and comparison', async () => {
    const ingest = moving.other.require('diskIngest');
    const hashes = ingest.hashes.bind(ingest);
    ingest.hashes = (...args) => {
      moving.lab.engine.disks.set(`${WEB} vda`, Buffer.alloc(1024, 'changed'));
      return hashes(...args);
    };
    await expect(begin({ deleteSource: true }).run()).rejects.toThrow('differs');
    expectUndone('Stopped');
  });

  test.each(['copy', 'verify'])('undoes everything when it is canceled during %s', async (step) => {
    moving.start();
    const run = begin({ deleteSource: true });
    const ingest = moving.other.require('diskIngest');
    const method = step === 'copy' ? 'write' : 'hashes';
    const original = ingest[method].bind(ingest) as (...args: unknown[]) => unknown;
    ingest[method] = ((...args: unknown[]) => {
      run.abort.abort(new Error('Canceled by ann.'));
      return original(...args);
    }) as never;
    await expect(run.run()).rejects.toBeDefined();
    expectUndone('Running');
  });

  test('never touches another VM that has the name of the source meanwhile', async () => {
    await expect(begin({ uid: 'another', deleteSource: true }).run()).rejects.toMatchObject({
      code: 'INSTANCE_NOT_FOUND',
    });
    expectUndone('Stopped');
  });

  test('keeps the source when it was started before it could be deleted', async () => {
    const run = begin({ deleteSource: true });
    moving.records.carryOver = async () => moving.start();
    moving.records.folders.set(WEB, 'prod');
    await expect(run.run()).rejects.toThrow('The copy is complete, but the source is kept');
    expect([moving.copied()?.status, source()]).toEqual(['Stopped', 'Running']);
  });

  test.each<KillPoint>([
    { step: 'verify', when: 'finished' },
    { step: 'commit', when: 'finished' },
    { step: 'folder', when: 'finished' },
    { step: 'delete', when: 'before' },
  ])('keeps a source whose disk has changed while the service was away: $when $step', async (kill) => {
    const run = begin({ deleteSource: true });
    await expect(run.run(kill)).rejects.toBeInstanceOf(Killed);
    moving.lab.engine.disks.set(`${WEB} vda`, Buffer.alloc(1024, 'changed'));
    await expect(run.restart()).rejects.toThrow('the source is kept: its disk vda has changed since.');
    expect([moving.copied()?.status, source()]).toEqual(['Stopped', 'Stopped']);
  });

  test('leaves a VM that has the name of the copy alone', async () => {
    const taken = { ...moving.lab.engine.vm(refOf('web')), uid: 'theirs', ref: { ...refOf('web'), context: 'other' } };
    moving.other.engine.put(taken);
    await expect(begin().run()).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    expect(moving.other.engine.vm(taken.ref)).toEqual(taken);
  });

  test('that is killed between two steps continues with the next one', async () => {
    for (const step of STEPS) {
      moving = new Moving();
      moving.start();
      const run = begin({ deleteSource: true });
      await expect(run.run({ step, when: 'finished' })).rejects.toBeInstanceOf(Killed);
      await run.restart();
      expectComplete();
      expect(source()).toBe('deleted');
    }
  });

  test('waits for a destination that is away after a restart', async () => {
    const run = begin();
    await expect(run.run({ step: 'copy', when: 'before' })).rejects.toBeInstanceOf(Killed);
    moving.other.engine.disconnect();
    const restarted = run.restart();
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    expect(run.log.at(-1)).toMatch(/does not answer. Trying again/);
    moving.other.engine.reconnect();
    moving.clock.advance(10_000);
    await restarted;
    expectComplete();
  });

  test('waits for a destination whose context is known to be lost after a restart', async () => {
    const run = begin();
    await expect(run.run({ step: 'copy', when: 'before' })).rejects.toBeInstanceOf(Killed);
    const get = moving.backends.get.bind(moving.backends);
    moving.backends.get = (context) => {
      if (context === 'other') throw new DomainError('BACKEND_UNREACHABLE', 'The context other is lost.');
      return get(context);
    };
    const restarted = run.restart();
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    expect(run.log).toEqual([expect.stringContaining('is reserved'), 'The context other is lost. Trying again.']);
    moving.backends.get = get;
    moving.clock.advance(10_000);
    await restarted;
    expectComplete();
  });

  describe.each(KILLS)('that is killed $when its work in the step $step', (kill) => {
    test('is completed after the restart, and says so', async () => {
      moving.start();
      moving.records.folders.set(WEB, 'prod');
      const run = begin({ deleteSource: true });
      await expect(run.run(kill)).rejects.toBeInstanceOf(Killed);
      await run.restart();
      expectComplete();
      expect(source()).toBe('deleted');
      expect([...moving.records.folders]).toEqual([[COPY, 'prod']]);
      expect(run.log).toContainEqual(expect.stringContaining(`restarted at the step ${kill.step}`));
    });

    test('deletes no source that has changed meanwhile', async () => {
      moving.start();
      const run = begin({ deleteSource: true });
      await expect(run.run(kill)).rejects.toBeInstanceOf(Killed);
      if (source() === 'deleted') return;
      moving.start();
      moving.lab.engine.disks.set(`${WEB} vda`, Buffer.alloc(1024, 'changed'));
      await run.restart().catch(() => undefined);
      // The source is deleted only if the copy has its latest content.
      const { disk = Buffer.alloc(0) } = moving.copied() ?? {};
      expect(source() !== 'deleted' || disk.includes('changed')).toBe(true);
      if (kill.step !== 'reserve' && kill.step !== 'stop') expect(source()).toBe('Running');
    });
  });
});
