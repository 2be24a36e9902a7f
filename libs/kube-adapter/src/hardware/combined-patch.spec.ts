import { type HardwareChange, type HardwareResult, type InstanceRef } from '@headgate/domain-contracts';
import { badRequest } from '@headgate/kube-sandbox';
import { SandboxHarness, type SandboxHarnessOptions } from '../testing/sandbox-harness.contract.js';

const GIB = 1024 ** 3;
const VMS = 'virtualmachines.kubevirt.io';
const MIGRATIONS = 'virtualmachineinstancemigrations.kubevirt.io';
const NODES = [{ name: 'node-a' }, { name: 'node-b' }];

describe('several changes of a VM of a cluster', () => {
  let harness: SandboxHarness;
  let network: string;

  const open = async (options: SandboxHarnessOptions = {}): Promise<void> => {
    const simulation = { ...options.simulation, cluster: { nodes: NODES, ...options.simulation?.cluster } };
    harness = await SandboxHarness.open({ ...options, simulation });
    [network] = await harness.givenNetworks();
  };
  afterEach(() => harness.close());

  const hardware = () => harness.backend.require('hardware');
  const generationOf = ({ namespace, name }: InstanceRef): number =>
    (harness.sandbox.store.get(VMS, { namespace, name }) as { metadata: { generation: number } }).metadata.generation;
  const migrations = (): number => harness.sandbox.store.list(MIGRATIONS as never, {}).length;
  const apply = async (ref: InstanceRef, changes: readonly HardwareChange[]): Promise<HardwareResult[]> => {
    const results: HardwareResult[] = [];
    for (const group of await hardware().planAll(ref, changes)) {
      results.push(
        ...(await hardware().applyGroup(
          ref,
          group.map(({ change }) => change),
        )),
      );
    }
    return results;
  };
  const nic = (name: string): HardwareChange => ({ kind: 'add-nic', nic: name, network });
  const scale = (memoryBytes: number, restart = false): HardwareChange => ({ kind: 'scale', memoryBytes, restart });

  test('are one patch and one migration, where each one would be refused during that of the one before', async () => {
    await open();
    const ref = await harness.givenVm('Running');
    const before = generationOf(ref);
    const changes = [scale(2 * GIB), nic('lan'), nic('wan')];
    const [group, ...others] = await hardware().planAll(ref, changes);
    expect([others, group?.map(({ plan }) => plan.effect)]).toEqual([[], ['now', 'now', 'now']]);
    const steps = group?.flatMap(({ plan }) => plan.steps.map(({ name }) => name));
    expect(steps).toEqual(['add', 'add', 'memory', 'migrate']);
    expect(await apply(ref, changes)).toEqual([{ effect: 'now' }, { effect: 'now' }, { effect: 'now' }]);
    expect(generationOf(ref)).toBe(before + 1);
    await harness.recorder.untilVm(ref, ({ memoryBytes }) => memoryBytes === 2 * GIB);
    expect(migrations()).toBe(1);
    expect(await hardware().read(ref)).toMatchObject({ pending: [] });
    expect((await hardware().read(ref)).nics.map(({ name }) => name)).toEqual(expect.arrayContaining(['lan', 'wan']));
  });

  test('are planned for the VM as the ones before leave it', async () => {
    await open();
    const ref = await harness.givenVm('Stopped');
    const root = (await hardware().read(ref)).disks[0]?.device ?? '';
    await apply(ref, [{ kind: 'set-boot-order', devices: ['lan', root] }, nic('lan')]);
    expect((await hardware().read(ref)).bootOrder).toEqual(['lan', root]);
  });

  test('all wait for the restart that one of them needs, with the way to have the others at once', async () => {
    await open();
    const ref = await harness.givenVm('Running');
    const changes = [scale(5 * GIB), nic('lan')];
    const [group = []] = await hardware().planAll(ref, changes);
    expect(group.map(({ plan }) => plan.effect)).toEqual(['next-start', 'next-start']);
    for (const { plan } of group) expect(plan.warnings).toContainEqual(expect.stringMatching(/a request of their own/));
    await apply(ref, changes);
    const { pending } = await hardware().read(ref);
    expect(pending.map(({ field }) => field).sort()).toEqual(['memory', 'nic lan']);
    await harness.recorder.untilVm(ref, ({ pendingCount }) => pendingCount === 2);
    expect(migrations()).toBe(0);
  });

  test('are applied by one restart on request', async () => {
    await open();
    const ref = await harness.givenVm('Running');
    const changes = [scale(5 * GIB, true), nic('lan')];
    const [group = []] = await hardware().planAll(ref, changes);
    expect(group.map(({ plan }) => [plan.effect, plan.warnings])).toEqual([
      ['restart', []],
      ['restart', []],
    ]);
    await apply(ref, changes);
    await harness.recorder.untilVm(ref, (vm) => vm.status === 'Running' && !vm.restartRequired);
    expect(await hardware().read(ref)).toMatchObject({ memoryBytes: 5 * GIB, pending: [] });
    await harness.recorder.untilVm(ref, ({ pendingCount }) => pendingCount === undefined);
  });

  test('are none when the admission of the cluster refuses them, which the plan knows', async () => {
    await open();
    const ref = await harness.givenVm('Stopped');
    const before = await hardware().read(ref);
    const changes = [scale(2 * GIB), nic('lan')];
    harness.sandbox.admission.addValidating({
      name: 'refuse-lan',
      resources: [VMS],
      operations: ['UPDATE'],
      admit: () => {
        throw badRequest('lan is not for everyone');
      },
    } as never);
    const [group = []] = await hardware().planAll(ref, changes);
    expect(group.flatMap(({ plan }) => plan.refusals)).toMatchObject([{ code: 'REJECTED_BY_BACKEND' }]);
    const attempt = hardware().applyGroup(
      ref,
      group.map(({ change }) => change),
    );
    await expect(attempt).rejects.toMatchObject({ code: 'REJECTED_BY_BACKEND' });
    expect(await hardware().read(ref)).toEqual(before);
  });

  test('are planned again when another client has changed the VM meanwhile', async () => {
    await open();
    const ref = await harness.givenVm('Stopped');
    const group = [scale(2 * GIB), nic('lan')];
    const [first, second] = await Promise.all([
      hardware().applyGroup(ref, group),
      hardware().applyGroup(ref, [nic('wan'), nic('dmz')]),
    ]);
    expect([first.length, second.length]).toEqual([2, 2]);
    const { nics, memoryBytes } = await hardware().read(ref);
    expect([memoryBytes, nics.map(({ name }) => name)]).toEqual([
      2 * GIB,
      expect.arrayContaining(['lan', 'wan', 'dmz']),
    ]);
  });

  test('are refused during a migration', async () => {
    await open({ simulation: { timeScale: 0 } });
    const ref = await harness.givenVm('Running');
    harness.simulation.faults.inject('migration-stuck', ref);
    const work = await harness.backend.require('migration').migrate(ref);
    const abort = new AbortController();
    const following = work({ step: () => 0, log: () => 0, progress: () => 0, signal: abort.signal }).catch(() => 0);
    await harness.recorder.untilVm(ref, ({ status }) => status === 'Migrating');
    const [group = []] = await hardware().planAll(ref, [scale(2 * GIB), nic('lan')]);
    expect(group.map(({ plan }) => plan.refusals[0]?.code)).toEqual(['BUSY', 'BUSY']);
    abort.abort();
    await following;
  });
});
