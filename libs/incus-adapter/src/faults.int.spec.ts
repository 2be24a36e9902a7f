import { performance } from 'node:perf_hooks';
import { type Container, type Containers, type ContainerSpec, type InstanceRef } from '@headgate/domain-contracts';
import { describeOnIncus, InventoryRecorder, TINY_ALIAS } from '@headgate/testing';
import { IncusHarness } from './contracts/incus-harness.contract.js';

const MIB = 1024 ** 2;

describeOnIncus('a server with other clients and faults', (flavor) => {
  let harness: IncusHarness;
  let containers: Containers;
  let recorder: InventoryRecorder;

  beforeAll(async () => {
    harness = await IncusHarness.open(flavor);
    containers = harness.backend.require('containers');
    recorder = InventoryRecorder.over(harness.backend.require('inventory'));
    await recorder.whenListed();
  });
  afterAll(async () => {
    await recorder.stop();
    await harness.close();
  });

  const specOf = (overrides: Partial<ContainerSpec> = {}): ContainerSpec => ({
    ref: harness.freshRef(),
    image: TINY_ALIAS,
    cpu: 1,
    memoryBytes: 256 * MIB,
    diskBytes: 64 * MIB,
    storageClass: '',
    privileged: false,
    ...overrides,
  });
  const created = async (overrides: Partial<ContainerSpec> = {}): Promise<InstanceRef> => {
    const spec = specOf(overrides);
    await containers.create(spec);
    await becomes(spec.ref, 'Running');
    return spec.ref;
  };
  const becomes = (ref: InstanceRef, phase: Container['phase']): Promise<Container> =>
    recorder.untilContainer(ref, (container) => container.phase === phase);
  const volumes = async (): Promise<string[]> =>
    (await harness.daemon.run('storage', 'volume', 'list', 'default', 'type=custom', '--format', 'csv', '-c', 'n'))
      .split('\n')
      .filter((name) => name !== '');

  // `npm run bench -- incus` measures how long it takes.
  test('shows a change by the client of the engine', async () => {
    const ref = await harness.givenVm('Stopped');
    await becomes(ref, 'Stopped');
    await harness.daemon.run('config', 'set', ref.name, 'user.headgate.tag.one=true', 'limits.cpu=2');
    await recorder.untilContainer(ref, ({ tags, cpu }) => tags.includes('one') && cpu === 2);
    await harness.daemon.run('start', ref.name);
    await becomes(ref, 'Running');
  });

  test('shows a container under its new name, and one in another project', async () => {
    const ref = await harness.givenVm('Stopped');
    await becomes(ref, 'Stopped');
    await harness.daemon.run('rename', ref.name, `${ref.name}-new`);
    await becomes({ ...ref, name: `${ref.name}-new` }, 'Stopped');
    await recorder.until(() => recorder.instance(ref) === undefined);

    await harness.daemon.run(
      'project',
      'create',
      'lab',
      '-c',
      'features.images=false',
      '-c',
      'features.profiles=false',
    );
    await harness.daemon.run('init', TINY_ALIAS, 'inner', '--project', 'lab');
    const inner: InstanceRef = { ...ref, namespace: 'lab', name: 'inner' };
    await becomes(inner, 'Stopped');
    await containers.start(inner);
    await becomes(inner, 'Running');
    await containers.delete(inner);
    await recorder.until(() => recorder.instance(inner) === undefined);
  });

  test('shows a name with capital letters as one that the API has, and finds it', async () => {
    await harness.daemon.run('init', TINY_ALIAS, 'WebServer');
    await recorder.until(() => [...recorder.instances.keys()].some((ref) => ref.includes('webserver-')));
    const found = [...recorder.instances.values()].find(({ ref }) => ref.name.startsWith('webserver-'));
    await containers.start(found?.ref as InstanceRef);
    await becomes(found?.ref as InstanceRef, 'Running');
    await containers.delete(found?.ref as InstanceRef);
    expect(await harness.daemon.instances()).not.toContain('WebServer');
  });

  test('keeps the files of the root and of /data over a stop', async () => {
    const ref = await created();
    await harness.daemon.run('exec', ref.name, '--', 'sh', '-c', 'echo root > /etc/kept; echo data > /data/kept');
    await containers.stop(ref);
    await becomes(ref, 'Stopped');
    await containers.start(ref);
    expect(await harness.daemon.run('exec', ref.name, '--', 'cat', '/etc/kept', '/data/kept')).toBe('root\ndata\n');
    expect(await harness.daemon.run('exec', ref.name, '--', 'cat', '/proc/self/uid_map')).not.toMatch(/^\s*0\s+0\s/);
    await containers.delete(ref);
  });

  test('creates a privileged container as such', async () => {
    const ref = await created({ privileged: true });
    expect((await becomes(ref, 'Running')).privileged).toBe(true);
    expect(await harness.daemon.run('exec', ref.name, '--', 'cat', '/proc/self/uid_map')).toMatch(/^\s*0\s+0\s/);
    await containers.delete(ref);
  });

  test('lets a container continue that another client has paused, and stops a paused one', async () => {
    const ref = await created();
    await harness.daemon.run('pause', ref.name);
    await recorder.untilContainer(ref, ({ ready, reason }) => !ready && reason?.includes('paused') === true);
    await containers.start(ref);
    await recorder.untilContainer(ref, ({ ready }) => ready);
    await harness.daemon.run('pause', ref.name);
    await containers.stop(ref);
    await becomes(ref, 'Stopped');
    await containers.delete(ref);
  });

  test('kills a container whose processes do not end within 10 seconds', async () => {
    const ref = await created();
    // The kernel delivers a signal to a first process only if that handles it, and sleep handles none.
    const script = 'rm /sbin/init && printf "#!/bin/sh\\nexec sleep 86400\\n" > /sbin/init && chmod +x /sbin/init';
    await harness.daemon.run('exec', ref.name, '--', 'sh', '-c', script);
    await harness.daemon.run('restart', '--force', ref.name);
    const startedAt = performance.now();
    await containers.stop(ref);
    expect(performance.now() - startedAt).toBeGreaterThan(9_000);
    await becomes(ref, 'Stopped');
    await containers.delete(ref);
  });

  test('carries out a start and a deletion while another client stops the container', async () => {
    for (const action of ['start', 'delete'] as const) {
      const ref = await created();
      const stopping = harness.daemon.run('stop', ref.name).catch(() => '');
      await containers[action](ref);
      await stopping;
      if (action === 'delete') await recorder.until(() => recorder.instance(ref) === undefined);
    }
  });

  test('deletes the volume of a container with it, and no volume of others', async () => {
    const ref = await created();
    await harness.daemon.run('storage', 'volume', 'create', 'default', 'precious');
    await harness.daemon.run('storage', 'volume', 'attach', 'default', 'precious', ref.name, 'extra', '/extra');
    expect(await volumes()).toEqual(expect.arrayContaining(['precious', `${ref.name}-ct-data`]));
    const { steps } = await containers.planDelete(ref);
    expect(steps.map(({ detail }) => detail).join(' ')).not.toContain('precious');
    await containers.delete(ref);
    expect(await volumes()).toContain('precious');
    expect(await volumes()).not.toContain(`${ref.name}-ct-data`);
  });

  test('keeps the volume of a container when a copy of it is deleted', async () => {
    const ref = await created();
    await containers.stop(ref);
    const copy = { ...ref, name: `${ref.name}-copy` };
    await harness.daemon.run('copy', ref.name, copy.name);
    await becomes(copy, 'Stopped');
    await containers.delete(copy);
    expect(await volumes()).toContain(`${ref.name}-ct-data`);
    await containers.start(ref);
    await containers.delete(ref);
    expect(await volumes()).not.toContain(`${ref.name}-ct-data`);
  });

  test('keeps a volume that others have put in place of its own', async () => {
    const ref = harness.freshRef();
    await harness.daemon.run('storage', 'volume', 'create', 'default', `${ref.name}-ct-data`);
    await expect(containers.create(specOf({ ref }))).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    expect((await containers.planCreate(specOf({ ref }))).refusals).toMatchObject([{ code: 'ALREADY_EXISTS' }]);
    expect(await volumes()).toContain(`${ref.name}-ct-data`);
    expect(await harness.daemon.instances()).not.toContain(ref.name);
  });

  test.each([
    ['an image that does not exist', { image: 'none' }, 'IMAGE_NOT_FOUND', /has no image none; use an alias/],
    ['an image of a server that is not configured', { image: 'evil:x' }, 'IMAGE_NOT_FOUND', /no image servers/],
    ['a host as an image', { image: 'evil.example.org/x:1' }, 'IMAGE_NOT_FOUND', /has no image/],
    ['a pool that does not exist', { storageClass: 'none' }, 'INVALID_INPUT', /no storage pool none.*default/],
  ])('refuses %s with the remedy, also in the plan, and leaves nothing behind', async (_, overrides, code, text) => {
    const spec = specOf(overrides);
    const before = await volumes();
    await expect(containers.create(spec)).rejects.toMatchObject({ code, message: expect.stringMatching(text) });
    expect((await containers.planCreate(spec)).refusals).toMatchObject([{ code }]);
    expect(await harness.daemon.instances()).not.toContain(spec.ref.name);
    expect(await volumes()).toEqual(before);
  });

  test('refuses a project that does not exist, and a name that no container can have', async () => {
    const ref = { ...harness.freshRef(), namespace: 'nowhere' };
    await expect(containers.create(specOf({ ref }))).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringMatching(/has no project nowhere; use .*default/),
    });
    expect((await containers.planCreate(specOf({ ref }))).refusals).toHaveLength(1);
    const digits = { ...harness.freshRef(), name: '1st' };
    await expect(containers.create(specOf({ ref: digits }))).rejects.toMatchObject({ code: 'INVALID_NAME' });
  });

  test('leaves nothing behind when the server refuses the container', async () => {
    const before = await volumes();
    await harness.daemon.run(
      'project',
      'create',
      'tight',
      '-c',
      'features.images=false',
      '-c',
      'features.profiles=false',
    );
    await harness.daemon.run('project', 'set', 'tight', 'limits.containers=0');
    const ref = { ...harness.freshRef(), namespace: 'tight' };
    await expect(containers.create(specOf({ ref }))).rejects.toMatchObject({
      code: 'REJECTED_BY_BACKEND',
      message: expect.stringContaining('limits'),
    });
    expect(await volumes()).toEqual(before);
    expect(
      await harness.daemon.run('storage', 'volume', 'list', 'default', '--project', 'tight', '-f', 'csv'),
    ).not.toContain(ref.name);
  });

  test('refuses to delete a protected container, also in the plan', async () => {
    const ref = await created();
    await harness.daemon.run('config', 'set', ref.name, 'security.protection.delete=true');
    await expect(containers.delete(ref)).rejects.toMatchObject({ code: 'WRONG_STATE' });
    expect((await containers.planDelete(ref)).refusals).toMatchObject([{ code: 'WRONG_STATE' }]);
    await harness.daemon.run('config', 'unset', ref.name, 'security.protection.delete');
    await containers.delete(ref);
  });

  test('masks the secrets of a manifest', async () => {
    const ref = await harness.givenVm('Stopped');
    await harness.daemon.run('config', 'set', ref.name, 'environment.TOKEN=hunter2', 'user.user-data=hunter2');
    const inventory = harness.backend.require('inventory');
    expect(JSON.stringify(await inventory.manifest(ref, { masked: true }))).not.toContain('hunter2');
    expect(JSON.stringify(await inventory.manifest(ref, { masked: false }))).toContain('hunter2');
  });

  test('is lost when the daemon hangs, and right again once it goes on', async () => {
    const ref = await harness.givenVm('Stopped');
    await becomes(ref, 'Stopped');
    const calls = recorder.calls.length;
    harness.daemon.freeze();
    await recorder.until(() => recorder.calls.slice(calls).includes('lost BACKEND_UNREACHABLE'));
    harness.daemon.thaw();
    await recorder.until(() => recorder.calls.slice(calls).includes('listed'));
    await harness.daemon.run('start', ref.name);
    await becomes(ref, 'Running');
  });

  test('is lost when the daemon is killed, and right again once it is back', async () => {
    const [kept, removed] = [await created(), await harness.givenVm('Stopped')];
    await becomes(removed, 'Stopped');
    const calls = recorder.calls.length;
    await harness.daemon.kill();
    await recorder.until(() => recorder.calls.slice(calls).includes('lost BACKEND_UNREACHABLE'));
    await expect(containers.stop(kept)).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
    expect((await harness.backend.require('diagnostics').checks())[0]).toMatchObject({ status: 'error' });

    const lost = recorder.calls.length;
    await harness.daemon.resume();
    await recorder.until(() => recorder.calls.slice(lost).includes('listed'));
    await becomes(kept, 'Running');
    await harness.deleteExternally(removed);
    await recorder.until(() => recorder.instance(removed) === undefined);
    await containers.delete(kept);
  });
});
