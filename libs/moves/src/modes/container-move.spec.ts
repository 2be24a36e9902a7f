import { DomainError, type ContainerPhase, type InstanceRef } from '@headgate/domain-contracts';
import { buildContainer, withPhase } from '@headgate/testing';
import type { MoveInput } from '../move-input.js';
import { Moving } from '../testing/moving.js';
import { Killed, TaskRun, type KillPoint } from '../testing/task-run.js';

const BOX = 'ct/lab/default/box';
const COPY = 'ct/other/default/box';
const ID = '0b3a2d0e-0000-4000-8000-000000000001';
/** More than one report of progress covers. */
const DATA = Buffer.alloc(3 * 1024 ** 2, 7);
const STEPS = ['stop', 'copy', 'verify', 'commit', 'folder', 'start', 'delete'] as const;
const KILLS = STEPS.flatMap((step): KillPoint[] => [
  { step, when: 'before' },
  { step, when: 'after' },
  { step, when: 'finished' },
]);

describe('the move of a container', () => {
  let moving: Moving;
  beforeEach(() => {
    moving = new Moving();
    moving.lab.engine.disks.set(`${BOX} root`, Buffer.from('grüße'));
    moving.lab.engine.disks.set(`${BOX} data`, DATA);
    moving.records.folders.set(BOX, 'prod');
  });

  const box: InstanceRef = { kind: 'ct', context: 'lab', namespace: 'default', name: 'box' };
  const copy: InstanceRef = { ...box, context: 'other' };
  const begin = (input: Partial<MoveInput> = {}): TaskRun<MoveInput> =>
    new TaskRun(
      moving.task,
      {
        id: ID,
        source: BOX,
        destination: COPY,
        uid: 'uid-2',
        mode: 'cold',
        wasRunning: true,
        deleteSource: true,
        mapping: { networks: {}, storageClasses: {} },
        ...input,
      },
      moving.clock,
    );
  const phaseOf = (ref: InstanceRef): ContainerPhase | 'absent' => {
    const { engine } = ref.context === 'lab' ? moving.lab : moving.other;
    return engine.has(ref) ? engine.container(ref).phase : 'absent';
  };
  const set = (ref: InstanceRef, phase: ContainerPhase): void => {
    const { engine } = ref.context === 'lab' ? moving.lab : moving.other;
    engine.put(withPhase(engine.container(ref), phase));
  };
  const phases = () => ({ source: phaseOf(box), copy: phaseOf(copy) });
  const expectCopied = (): void => {
    const { disks } = moving.other.engine;
    expect(disks.get(`${COPY} root`)?.toString()).toBe('grüße');
    expect(disks.get(`${COPY} data`)?.equals(DATA)).toBe(true);
  };
  /** Lets something happen in the middle of a call of an ability of a context. */
  const during = (context: 'lab' | 'other', method: 'receive' | 'fingerprint' | 'commit', act: () => unknown): void => {
    const transfer = moving[context].require('containerTransfer');
    const original = transfer[method].bind(transfer) as (...args: unknown[]) => Promise<never>;
    transfer[method] = (async (...args: unknown[]) => {
      const result = await original(...args);
      await act();
      return result;
    }) as never;
  };

  test('stops a running one, and starts the copy before it deletes the source', async () => {
    const run = begin();
    const result = await run.run();
    expect(phases()).toEqual({ source: 'absent', copy: 'Running' });
    expectCopied();
    expect(result).toMatchObject({ destination: COPY, downtimeSeconds: 0 });
    expect((result as { writtenBytes: number }).writtenBytes).toBeGreaterThan(DATA.length);
    expect([...moving.records.folders]).toEqual([[COPY, 'prod']]);
    expect(moving.records.uids.get(COPY)).toBe(ID);
    expect(moving.audit.entries.map(({ action }) => action)).toEqual(['delete after move']);
  });

  test('keeps the source stopped, and leaves the copy of a stopped one stopped', async () => {
    await begin({ deleteSource: false }).run();
    expect(phases()).toEqual({ source: 'Stopped', copy: 'Running' });
    moving.other.engine.remove(copy);
    const result = await begin({ deleteSource: false, wasRunning: false }).run();
    expect(phases()).toEqual({ source: 'Stopped', copy: 'Stopped' });
    expect(result).not.toHaveProperty('downtimeSeconds');
  });

  test.each(KILLS)('is completed by the next process when this one is killed: $when $step', async (kill) => {
    const run = begin();
    await expect(run.run(kill)).rejects.toBeInstanceOf(Killed);
    await run.after(moving.task).restart();
    expect(phases()).toEqual({ source: 'absent', copy: 'Running' });
    expectCopied();
    expect([...moving.records.folders]).toEqual([[COPY, 'prod']]);
  });

  test('removes the copy and starts the source again when it is canceled', async () => {
    const run = begin();
    during('other', 'receive', () => run.abort.abort(new Error('canceled')));
    await expect(run.run()).rejects.toThrow('canceled');
    expect(phases()).toEqual({ source: 'Running', copy: 'absent' });
    expect([...moving.records.folders]).toEqual([[BOX, 'prod']]);
  });

  test.each([
    ['is started while it is compared', 'lab', 'fingerprint', 'WRONG_STATE'],
    ['is started while it is copied', 'other', 'receive', 'WRONG_STATE'],
  ] as const)('is undone when the source %s', async (_title, context, method, code) => {
    during(context, method, () => set(box, 'Running'));
    await expect(begin().run()).rejects.toMatchObject({ code });
    expect(phases()).toEqual({ source: 'Running', copy: 'absent' });
  });

  test('is undone when the copy is not the same', async () => {
    during('other', 'receive', () => moving.other.engine.disks.set(`${COPY} root`, Buffer.from('other')));
    await expect(begin().run()).rejects.toThrow('The part root of the copy differs from that of box');
    expect(phases()).toEqual({ source: 'Running', copy: 'absent' });
  });

  test('leaves a container alone that has taken the name meanwhile', async () => {
    moving.other.engine.put(buildContainer({ ref: copy, uid: 'of-another-client' }));
    await expect(begin().run()).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    expect(phases()).toEqual({ source: 'Running', copy: 'Running' });
    expect(moving.other.engine.container(copy).uid).toBe('of-another-client');
  });

  test('keeps the source when the copy does not start', async () => {
    moving.other.require('containers').start = async () => {
      throw new DomainError('BACKEND_FAILED', 'It has no such device.');
    };
    const run = begin();
    await expect(run.run()).rejects.toThrow('It has no such device.');
    expect(phases()).toEqual({ source: 'Stopped', copy: 'Stopped' });
    expect(run.log.at(-1)).toBe('The copy is complete and stays.');
  });

  test('does not start the copy, nor delete the source, when that was started again', async () => {
    during('other', 'commit', () => set(box, 'Running'));
    await expect(begin().run()).rejects.toMatchObject({ code: 'WRONG_STATE' });
    expect(phases()).toEqual({ source: 'Running', copy: 'Stopped' });
  });

  test.each<KillPoint>([
    { step: 'commit', when: 'finished' },
    { step: 'start', when: 'finished' },
    { step: 'delete', when: 'before' },
  ])('keeps a source that was changed while the service was away: $when $step', async (kill) => {
    const run = begin();
    await expect(run.run(kill)).rejects.toBeInstanceOf(Killed);
    moving.lab.engine.disks.set(`${BOX} root`, Buffer.from('written meanwhile'));
    const restarted = run.after(moving.task).restart();
    await expect(restarted).rejects.toThrow('the source is kept: its part root has changed since.');
    expect(phases()).toEqual({ source: 'Stopped', copy: 'Running' });
  });

  test.each<KillPoint>([
    { step: 'start', when: 'finished' },
    { step: 'delete', when: 'before' },
  ])('keeps a source that was started while the service was away: $when $step', async (kill) => {
    const run = begin();
    await expect(run.run(kill)).rejects.toBeInstanceOf(Killed);
    set(box, 'Running');
    await expect(run.after(moving.task).restart()).rejects.toThrow('the source is kept: box is Running.');
    expect(phases()).toEqual({ source: 'Running', copy: 'Running' });
  });

  test('keeps a source that another client has started, changed and stopped after the comparison', async () => {
    during('other', 'commit', () => moving.lab.engine.disks.set(`${BOX} data`, Buffer.from('written meanwhile')));
    await expect(begin().run()).rejects.toThrow('the source is kept: its part data has changed since.');
    expect(phases()).toEqual({ source: 'Stopped', copy: 'Running' });
  });

  test('keeps a source that another client starts while it is compared for the last time', async () => {
    let count = 0;
    // Two parts before the commit, and two before the deletion.
    during('lab', 'fingerprint', () => ++count === 4 && set(box, 'Running'));
    await expect(begin().run()).rejects.toThrow('the source is kept: box is Running.');
    expect(phases()).toEqual({ source: 'Running', copy: 'Running' });
  });

  test('does not delete another container that has got the name of the source', async () => {
    const run = begin();
    await expect(run.run({ step: 'folder', when: 'finished' })).rejects.toBeInstanceOf(Killed);
    moving.lab.engine.put(buildContainer({ uid: 'later' }));
    await run.after(moving.task).restart();
    expect(moving.lab.engine.container(box).uid).toBe('later');
    expect(phaseOf(copy)).toBe('Running');
  });

  test('is undone after a restart when the copy is gone', async () => {
    const run = begin();
    await expect(run.run({ step: 'verify', when: 'before' })).rejects.toBeInstanceOf(Killed);
    moving.other.engine.remove(copy);
    await expect(run.after(moving.task).restart()).rejects.toThrow('The copy no longer exists.');
    expect(phases()).toEqual({ source: 'Running', copy: 'absent' });
  });

  test('waits for a context that does not answer before it undoes anything', async () => {
    const run = begin();
    await expect(run.run({ step: 'copy', when: 'after' })).rejects.toBeInstanceOf(Killed);
    moving.other.engine.disconnect();
    const next = run.after(moving.task);
    const restarted = next.restart();
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    expect(next.log.at(-1)).toMatch(/does not answer. Trying again/);
    expect(phaseOf(box)).toBe('Stopped');
    moving.other.engine.reconnect();
    moving.clock.advance(10_000);
    await restarted;
    expect(phases()).toEqual({ source: 'absent', copy: 'Running' });
  });

  test('ends when the source is deleted by another client', async () => {
    const run = begin();
    await expect(run.run({ step: 'copy', when: 'before' })).rejects.toBeInstanceOf(Killed);
    moving.lab.engine.remove(box);
    await expect(run.after(moving.task).restart()).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
    expect(phases()).toEqual({ source: 'absent', copy: 'absent' });
  });

  test('goes on although the folders can not be written', async () => {
    moving.records.carryOver = async () => {
      throw new DomainError('REGISTRY_FULL', 'The disk is full.');
    };
    const run = begin();
    await run.run();
    expect(phases()).toEqual({ source: 'absent', copy: 'Running' });
    expect(run.log.join('\n')).toContain('could not be put into the folder of the source: The disk is full.');
    expect([...moving.records.folders]).toEqual([[BOX, 'prod']]);
  });
});
