import { ServiceShutdown, type Containers, type InstanceCloning, type InstanceRef } from '@headgate/domain-contracts';
import { carryOn, describeOnIncus, freshKey, recordingReporter } from '@headgate/testing';
import { dataContainer, linesOf, read, write } from '../contracts/data-container.contract.js';
import { IncusHarness } from '../contracts/incus-harness.contract.js';
import type { InstanceObject } from '../api/incus-objects.js';

describeOnIncus('clones', (flavor) => {
  let harness: IncusHarness;
  let cloning: InstanceCloning;
  let containers: Containers;
  let source: InstanceRef;

  beforeAll(async () => {
    harness = await IncusHarness.open(flavor);
    cloning = harness.backend.require('cloning');
    containers = harness.backend.require('containers');
    source = await dataContainer(harness);
    await write(harness, source, 'original');
  });
  afterAll(() => harness?.close());

  const clone = async (target = harness.freshRef(), from = source): Promise<InstanceRef> => {
    await (await cloning.clone(from, target)).remaining?.(recordingReporter());
    return target;
  };
  const objectOf = async ({ name }: InstanceRef): Promise<InstanceObject> =>
    JSON.parse(await harness.daemon.run('query', `/1.0/instances/${name}`)) as InstanceObject;
  const volumes = (): Promise<string[]> =>
    linesOf(harness, 'storage', 'volume', 'list', 'default', 'type=custom', '-c', 'n');
  const codes = (plan: { refusals: readonly { code: string }[] }): string[] => plan.refusals.map(({ code }) => code);

  test('copies a container that runs with /data, which are its own, and deletes only those with it', async () => {
    await containers.setTag(source, 'prod', true);
    const target = harness.freshRef();
    const plan = await cloning.planClone(source, target);
    expect(plan.steps.map(({ name }) => name)).toEqual(['volume', 'create']);
    expect(plan).toMatchObject({ refusals: [], warnings: [expect.stringContaining('one after the other')] });
    expect(await harness.daemon.instances()).not.toContain(target.name);
    await clone(target);
    const [copy, original] = [await objectOf(target), await objectOf(source)];
    expect([copy.status, original.status]).toEqual(['Stopped', 'Running']);
    expect(copy.config['volatile.uuid']).not.toBe(original.config['volatile.uuid']);
    const kept = ['limits.cpu', 'limits.memory', 'user.headgate.image'];
    for (const key of kept) expect(copy.config[key]).toBe(original.config[key]);
    const own = Object.keys(copy.config).filter((key) => key.startsWith('user.headgate.'));
    expect(own.sort()).toEqual(['user.headgate.creation', 'user.headgate.image']);
    await containers.start(target);
    expect(await read(harness, target)).toBe('original original 0:0');
    await write(harness, target, 'copy');
    expect(await read(harness, source)).toBe('original original 0:0');
    const deletion = await containers.planDelete(target);
    expect(deletion.steps.map(({ detail }) => detail).join(' ')).toContain(`${target.name}-ct-data`);
    await containers.delete(target);
    expect(await volumes()).toEqual([`${source.name}-ct-data`]);
    expect(await read(harness, source)).toBe('original original 0:0');
  });

  test('keeps a clone of a stopped container, and its volume, when the source is deleted', async () => {
    const first = await clone();
    const second = await clone(harness.freshRef(), first);
    await containers.delete(first);
    await containers.start(second);
    expect(await read(harness, second)).toBe('original original 0:0');
    await containers.delete(second);
    expect(await volumes()).toEqual([`${source.name}-ct-data`]);
  });

  test('gives the clone no fixed addresses, no protection and no snapshots, and says which disks are shared', async () => {
    const from = await clone();
    const { name } = from;
    await harness.daemon.run('storage', 'volume', 'create', 'default', 'shared');
    await harness.daemon.run('storage', 'volume', 'attach', 'default', 'shared', name, 'more', '/more');
    await harness.daemon.run('config', 'set', name, 'security.protection.delete=true');
    await harness.daemon.run('config', 'device', 'add', name, 'eth0', 'nic', 'nictype=p2p', 'hwaddr=00:16:3e:00:00:01');
    await (await harness.backend.require('snapshots').create(from, { name: 'one' })).remaining?.(recordingReporter());
    const target = harness.freshRef();
    const { warnings } = await cloning.planClone(from, target);
    expect(warnings).toEqual([
      'The disk more at /more is not copied: both containers use the same.',
      'eth0 of the clone does not get the fixed addresses of the source.',
      `The clone is not protected from deletion, as ${name} is.`,
    ]);
    await clone(target, from);
    expect((await objectOf(target)).devices.eth0).toEqual({ type: 'nic', nictype: 'p2p' });
    expect(await harness.backend.require('snapshots').list(target)).toEqual([]);
    await containers.delete(target);
    expect(await volumes()).toEqual(expect.arrayContaining([`${name}-ct-data`, 'shared']));
    expect(await volumes()).not.toContain(`${target.name}-ct-data`);
    await harness.daemon.run('config', 'unset', name, 'security.protection.delete');
    await containers.delete(from);
    await harness.daemon.run('storage', 'volume', 'delete', 'default', 'shared');
  });

  test('refuses a name that exists, as a container or a volume, and one that no container can have', async () => {
    const other = await harness.givenVm('Stopped');
    await harness.daemon.run('storage', 'volume', 'create', 'default', 'precious-ct-data');
    for (const [name, code] of [
      [other.name, 'ALREADY_EXISTS'],
      [source.name, 'ALREADY_EXISTS'],
      ['precious', 'ALREADY_EXISTS'],
      ['1st', 'INVALID_NAME'],
    ] as const) {
      const target = { ...source, name };
      expect(codes(await cloning.planClone(source, target))).toEqual([code]);
      await expect(cloning.clone(source, target)).rejects.toMatchObject({ code });
    }
    expect(await volumes()).toContain('precious-ct-data');
    expect(await harness.daemon.instances()).toEqual(expect.arrayContaining([other.name, source.name]));
    await harness.daemon.run('storage', 'volume', 'delete', 'default', 'precious-ct-data');
    const missing = { ...source, name: 'none' };
    await expect(cloning.planClone(missing, other)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
  });

  test('removes what it has created when another client is first with the name, and nothing else', async () => {
    const target = harness.freshRef();
    const { remaining } = await cloning.clone(source, target);
    await harness.daemon.run('init', 'tiny', target.name);
    const { config } = await objectOf(target);
    await expect(remaining?.(recordingReporter())).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    expect(await volumes()).toEqual([`${source.name}-ct-data`]);
    expect((await objectOf(target)).config['volatile.uuid']).toBe(config['volatile.uuid']);
    await harness.deleteExternally(target);
  });

  test('removes the volume when it is canceled before the container is copied', async () => {
    const target = harness.freshRef();
    const abort = new AbortController();
    const report = recordingReporter(abort.signal);
    const { remaining } = await cloning.clone(source, target);
    const canceled = new Error('canceled');
    const work = remaining?.({ ...report, step: () => abort.abort(canceled) });
    await expect(work).rejects.toBe(canceled);
    expect(await volumes()).toEqual([`${source.name}-ct-data`]);
    expect(await harness.daemon.instances()).not.toContain(target.name);
  });

  test('finds a clone again by its key, and carries it on or discards it after the daemon was killed', async () => {
    const [target, key] = [harness.freshRef(), freshKey()];
    const cloned = {
      begin: async () => (await cloning.clone(source, target, key)).remaining,
      stateOf: () => cloning.stateOf(source, target, key),
      resume: () => cloning.resume(source, target, key),
    };
    expect((await cloned.stateOf()).state).toBe('absent');
    expect((await killedWithVolume(await cloned.begin())).state).toBe('running');
    await cloning.discard(source, target, key);
    expect([(await cloned.stateOf()).state, await volumes()]).toEqual(['absent', [`${source.name}-ct-data`]]);
    await killedWithVolume(await cloned.begin());
    expect(await carryOn(cloned)).toBe('running');
    expect(await carryOn(cloned)).toBe('done');
    await cloning.discard(source, target, key);
    await cloning.discard(source, target, freshKey());
    expect((await cloning.stateOf(source, target, freshKey())).state).toBe('absent');
    await containers.start(target);
    expect(await read(harness, target)).toBe('original original 0:0');

    async function killedWithVolume(work: Awaited<ReturnType<typeof cloned.begin>>) {
      const abort = new AbortController();
      const killed = work?.({
        ...recordingReporter(abort.signal),
        step: () => abort.abort(new ServiceShutdown('killed')),
      });
      await expect(killed).rejects.toBeInstanceOf(ServiceShutdown);
      await harness.daemon.kill();
      await harness.daemon.resume();
      return cloned.stateOf();
    }
  });

  test('makes no templates', async () => {
    expect(codes(await cloning.planTemplate(source, true))).toEqual(['NOT_SUPPORTED']);
    await expect(cloning.setTemplate(source, true)).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
  });
});
