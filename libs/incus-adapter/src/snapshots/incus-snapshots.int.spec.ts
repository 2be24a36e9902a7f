import type { InstanceRef, InstanceSnapshots } from '@headgate/domain-contracts';
import { carryOn, describeOnIncus, freshKey, killAtCommit, recordingReporter } from '@headgate/testing';
import { dataContainer, read, write } from '../contracts/data-container.contract.js';
import { IncusHarness } from '../contracts/incus-harness.contract.js';

describeOnIncus('snapshots', (flavor) => {
  let harness: IncusHarness;
  let snapshots: InstanceSnapshots;
  let box: InstanceRef;

  beforeAll(async () => {
    harness = await IncusHarness.open(flavor);
    snapshots = harness.backend.require('snapshots');
    box = await dataContainer(harness);
  });
  afterAll(() => harness?.close());

  const take = async (name: string, ref = box): Promise<void> => {
    await (await snapshots.create(ref, { name })).remaining?.(recordingReporter());
  };
  const restore = async (name: string, ref = box) => {
    const report = recordingReporter();
    await (
      await snapshots.restore(ref, name)
    )(report);
    return report;
  };
  const remove = async (name: string, ref = box): Promise<void> => {
    await (await snapshots.delete(ref, name)).remaining?.(recordingReporter());
  };
  const namesOf = async (ref = box): Promise<string[]> => (await snapshots.list(ref)).map(({ name }) => name);
  const api = async (path: string): Promise<string> => harness.daemon.run('query', path);
  const volumeSnapshots = async ({ name }: InstanceRef = box): Promise<string[]> =>
    (JSON.parse(await api(`/1.0/storage-pools/default/volumes/custom/${name}-ct-data/snapshots`)) as string[]).map(
      (path) => path.split('/').at(-1) ?? '',
    );
  const query = (method: string, path: string, body: object): Promise<string> =>
    harness.daemon.run('query', '-X', method, '--wait', '-d', JSON.stringify(body), path);
  const statusOf = async ({ name }: InstanceRef = box): Promise<string> =>
    (JSON.parse(await api(`/1.0/instances/${name}`)) as { status: string }).status;
  const uidOf = async ({ name }: InstanceRef = box): Promise<string | undefined> =>
    (JSON.parse(await api(`/1.0/instances/${name}`)) as { config: Record<string, string> }).config['volatile.uuid'];
  const codes = (plan: { refusals: readonly { code: string }[] }): string[] => plan.refusals.map(({ code }) => code);

  test('returns the root and /data of a container that runs, which keeps its identity', async () => {
    expect(await snapshots.list(box)).toEqual([]);
    await write(harness, box, 'old');
    const uid = await uidOf();
    const plan = await snapshots.planCreate(box, { name: 'one' });
    expect(plan.steps.map(({ detail }) => detail)).toEqual([
      `/data: the volume ${box.name}-ct-data in the storage pool default.`,
      `The root of ${box.name}.`,
    ]);
    expect(plan).toMatchObject({ refusals: [], warnings: [expect.stringContaining('one after the other')] });
    expect(await namesOf()).toEqual([]);
    await take('one');
    expect(await statusOf()).toBe('Running');
    await write(harness, box, 'new');
    await take('two');
    expect(await snapshots.list(box)).toMatchObject([
      { name: 'one', phase: 'Succeeded', ready: true },
      { name: 'two', phase: 'Succeeded', ready: true },
    ]);
    expect((await snapshots.planRestore(box, 'one')).warnings.join(' ')).not.toContain('/data');
    const report = await restore('one');
    expect(report.steps).toEqual(['stop', 'restore', 'start']);
    expect(report.commits).toHaveLength(1);
    expect(await read(harness, box)).toBe('old old 0:0');
    expect(await uidOf()).toBe(uid);
    await restore('two');
    expect(await read(harness, box)).toBe('new new 0:0');
    expect(await namesOf()).toEqual(['one', 'two']);
    await remove('one');
    expect([await namesOf(), await volumeSnapshots()]).toEqual([['two'], ['two']]);
    await restore('two');
    await remove('two');
    expect([await namesOf(), await volumeSnapshots()]).toEqual([[], []]);
    await expect(snapshots.delete(box, 'two')).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_FOUND' });
    await expect(snapshots.planRestore(box, 'two')).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_FOUND' });
  });

  test('refuses memory and a name that exists, also that of a snapshot of the volume alone', async () => {
    await harness.daemon.run('snapshot', ...(flavor === 'incus' ? ['create'] : []), box.name, 'foreign');
    const volume = `/1.0/storage-pools/default/volumes/custom/${box.name}-ct-data`;
    await query('POST', `${volume}/snapshots`, { name: 'only-data' });
    for (const [request, code] of [
      [{ name: 'foreign' }, 'ALREADY_EXISTS'],
      [{ name: 'only-data' }, 'ALREADY_EXISTS'],
      [{ name: 'fresh', memory: true }, 'NOT_SUPPORTED'],
    ] as const) {
      expect(codes(await snapshots.planCreate(box, request))).toEqual([code]);
      await expect(snapshots.create(box, request)).rejects.toMatchObject({ code });
    }
    expect(await namesOf()).toEqual(['foreign']);
    // Another client has taken both at other moments: they do not belong together.
    await query('POST', `${volume}/snapshots`, { name: 'foreign' });
    expect((await snapshots.planRestore(box, 'foreign')).warnings).toContainEqual(
      `The snapshot foreign does not include /data: the volume ${box.name}-ct-data stays as it is.`,
    );
    await write(harness, box, 'later');
    await restore('foreign');
    expect(await read(harness, box)).toMatch(/^(new|old) later 0:0$/);
    await remove('foreign');
    expect([await namesOf(), (await volumeSnapshots()).sort()]).toEqual([[], ['foreign', 'only-data']]);
  });

  test('gives an odd name of another client letters that the API has, and restores and deletes it', async () => {
    await query('POST', `/1.0/instances/${box.name}/snapshots`, { name: 'A:b_ü', stateful: false });
    const [name = ''] = await namesOf();
    expect(name).toMatch(/^a-b-[0-9a-f]{8}$/);
    await restore(name);
    expect(await statusOf()).toBe('Running');
    await remove(name);
    expect(await namesOf()).toEqual([]);
  });

  test('names the disks that are not included, and says nothing about /data without a volume', async () => {
    const ref = await harness.givenVm('Stopped');
    await harness.daemon.run('storage', 'volume', 'create', 'default', 'extra');
    await harness.daemon.run('storage', 'volume', 'attach', 'default', 'extra', ref.name, 'more', '/more');
    const plan = await snapshots.planCreate(ref, { name: 'one' });
    expect(plan.warnings).toEqual(['The disk more at /more is not in the snapshot.']);
    await take('one', ref);
    expect((await snapshots.planRestore(ref, 'one')).warnings).toContain('The disk more at /more stays as it is.');
    await restore('one', ref);
    expect(await statusOf(ref)).toBe('Stopped');
  });

  test('refuses to restore a container that its stop would delete', async () => {
    const ref = harness.freshRef();
    await harness.daemon.run('launch', 'tiny', ref.name, '--ephemeral');
    await take('one', ref);
    expect(codes(await snapshots.planRestore(ref, 'one'))).toEqual(['WRONG_STATE']);
    await expect(snapshots.restore(ref, 'one')).rejects.toMatchObject({ code: 'WRONG_STATE' });
    expect(await statusOf(ref)).toBe('Running');
  });

  test('leaves nothing behind when another client is first with the name, and keeps the snapshot of that', async () => {
    const { remaining } = await snapshots.create(box, { name: 'race' });
    await query('POST', `/1.0/instances/${box.name}/snapshots`, { name: 'race', stateful: false });
    const root = JSON.parse(await api(`/1.0/instances/${box.name}/snapshots/race`)) as { created_at: string };
    await expect(remaining?.(recordingReporter())).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    expect(await volumeSnapshots()).not.toContain('race');
    expect(await namesOf()).toEqual(['race']);
    expect(JSON.parse(await api(`/1.0/instances/${box.name}/snapshots/race`))).toMatchObject(root);
    await remove('race');
  });

  test('finds a creation again after each interruption', async () => {
    const [key, snapshot] = [freshKey(), 'carried'];
    const operation = { kind: 'create', snapshot, ...key } as const;
    const creation = {
      begin: async () => (await snapshots.create(box, { name: snapshot }, key)).remaining,
      stateOf: () => snapshots.stateOf(box, operation),
      resume: () => snapshots.resume(box, operation),
    };
    expect((await creation.stateOf()).state).toBe('absent');
    await creation.begin();
    expect(await carryOn(creation)).toBe('running');
    expect(await carryOn(creation)).toBe('done');
    await snapshots.discard(box, operation, new AbortController().signal);
    expect([await namesOf(), await volumeSnapshots()]).toEqual([[snapshot], expect.arrayContaining([snapshot])]);
    const foreign = { kind: 'create', snapshot, ...freshKey() } as const;
    expect((await snapshots.stateOf(box, foreign)).state).toBe('absent');
    await snapshots.discard(box, foreign, new AbortController().signal);
    expect(await namesOf()).toEqual([snapshot]);
    const deletion = { kind: 'delete', snapshot, ...freshKey() } as const;
    expect((await snapshots.stateOf(box, deletion)).state).toBe('absent');
    await (
      await snapshots.resume(box, deletion)
    )(recordingReporter());
    expect((await snapshots.stateOf(box, deletion)).state).toBe('done');
  });

  test('carries a restore on, or discards it, after an interruption before the files are replaced', async () => {
    await write(harness, box, 'before');
    await take('base');
    await write(harness, box, 'after');
    const key = freshKey({ wasRunning: true });
    const operation = { kind: 'restore', snapshot: 'base', ...key } as const;
    await killAtCommit(await snapshots.restore(box, 'base', key));
    expect([await statusOf(), (await snapshots.stateOf(box, operation)).state]).toEqual(['Stopped', 'absent']);
    await snapshots.discard(box, operation, new AbortController().signal);
    expect([await statusOf(), await read(harness, box)]).toEqual(['Running', 'after after 0:0']);
    const restoring = {
      begin: () => snapshots.restore(box, 'base', key),
      stateOf: () => snapshots.stateOf(box, operation),
      resume: () => snapshots.resume(box, operation),
    };
    await killAtCommit(await restoring.begin());
    expect(await carryOn(restoring)).toBe('absent');
    expect([await statusOf(), await read(harness, box)]).toEqual(['Running', 'before before 0:0']);
    expect(await carryOn(restoring)).toBe('done');
  });

  test('says which half was replaced when the other one fails, and restores another snapshot', async () => {
    await write(harness, box, 'lost');
    await take('lost');
    const key = freshKey({ wasRunning: true });
    const operation = { kind: 'restore', snapshot: 'lost', ...key } as const;
    const work = await snapshots.restore(box, 'lost', key);
    await harness.daemon.run('query', '-X', 'DELETE', '--wait', `/1.0/instances/${box.name}/snapshots/lost`);
    await expect(work(recordingReporter())).rejects.toMatchObject({
      code: 'SNAPSHOT_NOT_FOUND',
      message: expect.stringContaining('The container stays stopped: /data is that of the snapshot'),
    });
    expect([await statusOf(), (await snapshots.stateOf(box, operation)).state]).toEqual(['Stopped', 'running']);
    const discarding = snapshots.discard(box, operation, new AbortController().signal);
    await expect(discarding).rejects.toMatchObject({ code: 'WRONG_STATE' });
    await restore('base');
    await harness.backend.require('containers').start(box);
    expect(await read(harness, box)).toBe('before before 0:0');
  });

  test('are deleted with the container and its volume', async () => {
    await harness.backend.require('containers').delete(box);
    expect(await harness.daemon.run('storage', 'volume', 'list', 'default')).not.toContain(`${box.name}-ct-data`);
    box = await dataContainer(harness, box.name);
    expect(await snapshots.list(box)).toEqual([]);
    await expect(snapshots.list({ ...box, name: 'none' })).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
  });

  test('discards a creation during which the daemon was killed, and lets the container continue', async () => {
    const other = await dataContainer(harness);
    const key = freshKey({ wasRunning: true });
    const operation = { kind: 'create', snapshot: 'half', ...key } as const;
    const { remaining } = await snapshots.create(other, { name: 'half' }, key);
    const abort = new AbortController();
    await killedDuring(remaining?.(recordingReporter(abort.signal)));
    expect((await snapshots.stateOf(other, operation)).state).toBe('running');
    // As it is while the server saves it.
    await harness.daemon.run('pause', other.name);
    await snapshots.discard(other, operation, abort.signal);
    expect(await statusOf(other)).toBe('Running');
    expect([await namesOf(other), (await volumeSnapshots(other)).includes('half')]).toEqual([[], false]);
    expect((await snapshots.stateOf(other, operation)).state).toBe('absent');
  });

  // The last one: after a snapshot `..`, the server can't run programs in its containers any more.
  test.each(['..', 'a%2Fb'])('refuses the name "%s", by which the server would be asked for another', async (odd) => {
    const ref = await harness.givenVm('Stopped');
    await query('POST', `/1.0/instances/${ref.name}/snapshots`, { name: odd, stateful: false });
    const [found] = await snapshots.list(ref);
    expect(found).toMatchObject({ ready: false, reason: expect.stringContaining(`"${odd}"`) });
    for (const attempt of [snapshots.delete(ref, found?.name ?? ''), snapshots.restore(ref, found?.name ?? '')]) {
      await expect(attempt).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
    }
    expect(await harness.daemon.instances()).toContain(ref.name);
  });

  /** Kills the daemon as soon as the work has begun. */
  const killedDuring = async (saving: Promise<void> | undefined): Promise<void> => {
    const failed = expect(saving).rejects.toMatchObject({ code: expect.stringMatching(/^BACKEND_/) });
    await harness.daemon.kill();
    await failed;
    await harness.daemon.resume();
  };
});
