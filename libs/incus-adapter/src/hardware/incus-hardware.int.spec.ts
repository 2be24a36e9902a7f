import { DomainError, type InstanceHardware, type InstanceRef, type ScaleChange } from '@headgate/domain-contracts';
import { containerHardwareContract, describeOnIncus, InventoryRecorder, TINY_ALIAS } from '@headgate/testing';
import { dataContainer } from '../contracts/data-container.contract.js';
import { IncusHarness } from '../contracts/incus-harness.contract.js';
import type { IncusEngine } from '../engine/incus-engine.js';
import { connectTo } from '../testing/connect-to.js';
import { IncusHardware } from './incus-hardware.js';
import { Restarts } from './restarts.js';

const MIB = 1024 ** 2;
const RESTARTING = 'user.headgate.restarting';

describeOnIncus('the contract of hardware', (flavor) => {
  containerHardwareContract(flavor, () => IncusHarness.open(flavor), { timeoutMs: 60_000 });
});

describeOnIncus('limits', (flavor) => {
  let harness: IncusHarness;
  let hardware: InstanceHardware;

  beforeAll(async () => {
    harness = await IncusHarness.open(flavor);
    hardware = harness.backend.requireFor('ct', 'hardware');
  });
  afterAll(() => harness?.close());

  const inside = async ({ name }: InstanceRef, script: string): Promise<string> =>
    (await harness.daemon.run('exec', name, '--', 'sh', '-c', script)).trim();
  const key = async ({ name }: InstanceRef, of: string): Promise<string> =>
    (await harness.daemon.run('config', 'get', name, of)).trim();
  const memory = (mib: number, restart = false): ScaleChange => ({ kind: 'scale', memoryBytes: mib * MIB, restart });
  /** Writes 100 MiB into the memory, which only the end of the container frees. */
  const fill = (ref: InstanceRef): Promise<string> =>
    inside(
      ref,
      'mkdir /run/full && mount -t tmpfs full /run/full && dd if=/dev/zero of=/run/full/file bs=1M count=100',
    );
  /** Whether a program can use so much memory. */
  const canUse = async (ref: InstanceRef, mib: number): Promise<boolean> =>
    inside(ref, `dd if=/dev/zero of=/dev/null bs=${mib}M count=1 2>/dev/null && echo yes || echo no`).then(
      (answer) => answer === 'yes',
      () => false,
    );

  test('are enforced at once while the programs of the container continue', async () => {
    const ref = await dataContainer(harness);
    const programs = await inside(ref, 'until pidof httpd; do usleep 20000; done');
    expect(await canUse(ref, 128)).toBe(true);
    expect(await hardware.apply(ref, memory(64))).toEqual({ effect: 'now' });
    expect(await canUse(ref, 128)).toBe(false);
    await hardware.apply(ref, memory(384));
    expect(await canUse(ref, 256)).toBe(true);
    expect(await inside(ref, 'pidof httpd')).toBe(programs);
  });

  test('below the memory in use are refused, and take a restart on request', async () => {
    const ref = await dataContainer(harness);
    await fill(ref);
    const refused = await hardware.plan(ref, memory(32));
    expect(refused).toMatchObject({ steps: [], refusals: [{ code: 'WRONG_STATE' }] });
    expect(refused.refusals[0]?.reason).toMatch(
      /^mem: .* uses \d+\w* now, .* can't be limited to 32Mi while it runs\.$/,
    );
    await expect(hardware.apply(ref, memory(32))).rejects.toMatchObject({ code: 'WRONG_STATE' });
    expect(await inside(ref, 'ls /run/full')).toBe('file');
    const plan = await hardware.plan(ref, memory(32, true));
    expect([plan.effect, plan.steps.map(({ name }) => name)]).toEqual(['restart', ['stop', 'memory', 'start']]);
    expect(await hardware.apply(ref, memory(32, true))).toEqual({ effect: 'restart' });
    expect(await inside(ref, 'ls /run/full')).toBe('');
    expect(await canUse(ref, 64)).toBe(false);
    // What fits changes without a restart, also if one is allowed.
    expect(await hardware.apply(ref, memory(128, true))).toEqual({ effect: 'now' });
  });

  test('of a container that is paused change, and it stays paused', async () => {
    const ref = await dataContainer(harness);
    await harness.daemon.run('pause', ref.name);
    await hardware.apply(ref, { ...memory(128), cpu: 2 });
    expect(await harness.daemon.run('list', '--format', 'csv', '-c', 's', ref.name)).toContain('FROZEN');
    expect([await key(ref, 'limits.cpu'), await key(ref, 'limits.memory')]).toEqual(['2', `${128 * MIB}B`]);
  });

  test('that are no numbers are replaced with a warning, and stay when nothing changes', async () => {
    const ref = await dataContainer(harness);
    await harness.daemon.run('config', 'set', ref.name, 'limits.cpu=0-1', 'limits.memory=50%');
    const { cpu, memoryBytes } = await hardware.read(ref);
    expect(cpu).toBe(2);
    await hardware.apply(ref, { kind: 'scale', cpu, memoryBytes, restart: false });
    expect(await key(ref, 'limits.cpu')).toBe('0-1');
    const { warnings } = await hardware.plan(ref, { ...memory(256), cpu: 1 });
    expect(warnings).toEqual([expect.stringContaining('0-1'), expect.stringContaining('50%')]);
    await hardware.apply(ref, { ...memory(256), cpu: 1 });
    expect(await hardware.read(ref)).toMatchObject({ cpu: 1, memoryBytes: 256 * MIB });
  });

  test('are those of the machine where there are none, and can not exceed it', async () => {
    const ref = harness.freshRef();
    await harness.daemon.run('launch', 'tiny', ref.name);
    const { cpu, memoryBytes, maxCpu, maxMemoryBytes } = await hardware.read(ref);
    expect([maxCpu, maxMemoryBytes]).toEqual([cpu, memoryBytes]);
    const { refusals } = await hardware.plan(ref, {
      kind: 'scale',
      cpu: cpu + 1,
      memoryBytes: memoryBytes + 2 * MIB,
      restart: true,
    });
    expect(refusals.map(({ code }) => code)).toEqual(['INVALID_INPUT', 'INVALID_QUANTITY']);
    expect(await key(ref, 'limits.cpu')).toBe('');
  });

  test('keep what another client has configured, and both of two changes at the same time or an error', async () => {
    const ref = await dataContainer(harness);
    await harness.daemon.run('config', 'set', ref.name, 'user.other=kept', 'limits.processes=200');
    const ended = await Promise.allSettled([
      hardware.apply(ref, { kind: 'scale', cpu: 2, restart: false }),
      hardware.apply(ref, memory(200)),
    ]);
    const errors = ended.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
    // LXD lets the second one wait, Incus compares what both have read.
    expect(errors.filter((error) => !/ETag doesn't match|is busy running/.test(error))).toEqual([]);
    const { cpu, memoryBytes } = await hardware.read(ref);
    expect([cpu === 2, memoryBytes === 200 * MIB].filter(Boolean)).toHaveLength(2 - errors.length);
    expect([await key(ref, 'user.other'), await key(ref, 'limits.processes')]).toEqual(['kept', '200']);
  });

  test('that keep the container from starting are taken back, and it runs again', async () => {
    const ref = await dataContainer(harness);
    await fill(ref);
    const engine = connectTo(harness.daemon);
    const { api } = engine;
    const send = api.send.bind(api);
    let failures = 0;
    api.send = async (method, path, options) => {
      const isStart = path.endsWith('/state') && JSON.stringify(options?.body).includes('"start"');
      if (isStart && failures++ === 0) throw new DomainError('BACKEND_FAILED', 'The kernel has no such control group.');
      return send(method, path, options);
    };
    const failing = new IncusHardware(engine, new Restarts(engine)).apply(
      { ...ref, context: engine.context },
      memory(32, true),
    );
    await expect(failing).rejects.toThrow('The kernel has no such control group.');
    api.close();
    expect(await key(ref, RESTARTING)).toBe('');
    expect(await hardware.read(ref)).toMatchObject({ memoryBytes: 256 * MIB });
    expect(await inside(ref, 'until pidof httpd; do usleep 20000; done')).not.toBe('');
  });

  test('are changed with a restart that a kill of the daemon interrupts, after which the container runs again', async () => {
    const ref = await dataContainer(harness);
    await fill(ref);
    const engine = connectTo(harness.daemon);
    const { api } = engine;
    const send = api.send.bind(api);
    api.send = (async (method, path, options) => {
      const sent = await send(method, path, options);
      if (path.endsWith('/state')) await harness.daemon.kill();
      return sent;
    }) as typeof api.send;
    const recorder = new InventoryRecorder();
    const watch = harness.backend.require('inventory').watch(recorder);
    await recorder.untilContainer(ref, ({ phase }) => phase === 'Running');
    const failing = new IncusHardware(engine, new Restarts(engine)).apply(
      { ...ref, context: engine.context },
      memory(32, true),
    );
    await expect(failing).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
    api.close();
    const seen = recorder.calls.length;
    await harness.daemon.resume();
    await recorder.until(() => recorder.calls.slice(seen).some((call) => call.startsWith('listed')));
    await recorder.untilContainer(ref, ({ phase }) => phase === 'Running');
    while ((await key(ref, RESTARTING)) !== '');
    expect(await inside(ref, 'ls /run/full')).toBe('');
    await watch.stop();
  });

  test('that wait for a container which the service has stopped before it was killed are found at its next start', async () => {
    const [ref, other] = [await dataContainer(harness), await dataContainer(harness)];
    await harness.daemon.run('config', 'set', ref.name, `${RESTARTING}=true`);
    await harness.daemon.run('stop', '--force', ref.name);
    await harness.daemon.run('stop', '--force', other.name);
    const recorder = new InventoryRecorder();
    const watch = harness.backend.require('inventory').watch(recorder);
    await recorder.untilContainer(ref, ({ phase }) => phase === 'Running');
    expect(await recorder.untilContainer(other, () => true)).toMatchObject({ phase: 'Stopped' });
    await watch.stop();
  });

  test('leave a container stopped that was stopped after its restart had ended, whatever an older list shows', async () => {
    const [ref, deleted] = [await dataContainer(harness), await dataContainer(harness)];
    for (const { name } of [ref, deleted]) {
      await harness.daemon.run('config', 'set', name, `${RESTARTING}=true`);
      await harness.daemon.run('stop', '--force', name);
    }
    const lines: string[] = [];
    const engine = { ...connectTo(harness.daemon), log: { warn: (_fields: object, line: string) => lines.push(line) } };
    const older = await engine.finder.all();
    // Another process ends the restart, and a user stops the container: it is as in the list, but for the mark.
    await harness.daemon.run('config', 'unset', ref.name, RESTARTING);
    await harness.daemon.run('delete', deleted.name);
    await harness.daemon.run('init', TINY_ALIAS, deleted.name);
    await new Restarts(engine as unknown as IncusEngine).resume(older);
    const stopped = await engine.finder.all();
    engine.api.close();
    for (const { name } of [ref, deleted])
      expect(stopped.find((one) => one.name === name)).toMatchObject({ name, status: 'Stopped' });
    expect(lines).toEqual([]);
  });

  test('of a project are enforced by the server, which changes nothing beyond them', async () => {
    const run = harness.daemon.run.bind(harness.daemon);
    await run('project', 'create', 'small', '-c', 'features.images=false', '-c', 'features.profiles=false');
    await run('launch', 'tiny', 'inner', '--project', 'small', '-c', 'limits.cpu=1', '-c', 'limits.memory=128MiB');
    await run('project', 'set', 'small', 'limits.memory', '256MiB');
    const ref = { ...harness.freshRef(), namespace: 'small', name: 'inner' };
    await expect(hardware.apply(ref, memory(512))).rejects.toMatchObject({ code: 'REJECTED_BY_BACKEND' });
    expect(await hardware.read(ref)).toMatchObject({ memoryBytes: 128 * MIB });
    await hardware.apply(ref, memory(200));
    expect(await hardware.read(ref)).toMatchObject({ memoryBytes: 200 * MIB });
  });

  test('are shown with the disks and the cards of the container', async () => {
    const ref = await dataContainer(harness);
    const { disks, nics, autostart } = await hardware.read(ref);
    expect(disks).toEqual([
      {
        device: 'data',
        type: 'disk',
        bus: '/data',
        volume: `default/${ref.name}-ct-data`,
        sizeBytes: 64 * MIB,
        isRoot: false,
      },
      { device: 'root', type: 'disk', bus: '/', volume: `default/${ref.name}`, sizeBytes: null, isRoot: true },
    ]);
    expect([nics, autostart]).toEqual([[], null]);
  });
});
