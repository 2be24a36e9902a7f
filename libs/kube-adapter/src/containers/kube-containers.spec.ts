import {
  isContainer,
  formatRef,
  type Container,
  type ContainerSpec,
  type InstanceRef,
} from '@headgate/domain-contracts';
import { readUntil } from '@headgate/testing';
import { NAMESPACE, SandboxHarness } from '../testing/sandbox-harness.contract.js';

describe('KubeContainers', () => {
  let harness: SandboxHarness;

  beforeAll(async () => {
    harness = await SandboxHarness.open();
  });
  afterEach(() => harness.sandbox.faults.clear());
  afterAll(() => harness.close());

  const containers = () => harness.backend.require('containers');
  const specOf = (overrides: Partial<ContainerSpec> = {}): ContainerSpec => ({
    ref: harness.freshContainer(),
    image: 'debian:12',
    cpu: 1,
    memoryBytes: 512 * 1024 ** 2,
    diskBytes: 5 * 1024 ** 3,
    storageClass: '',
    privileged: false,
    ...overrides,
  });
  const shown = (ref: InstanceRef): Container | undefined => {
    const found = harness.recorder.instances.get(formatRef(ref));
    return found && isContainer(found) ? found : undefined;
  };
  const becomes = (ref: InstanceRef, phase: Container['phase']) =>
    harness.recorder.until(() => shown(ref)?.phase === phase);
  const running = async (overrides: Partial<ContainerSpec> = {}): Promise<InstanceRef> => {
    const spec = specOf(overrides);
    await containers().create(spec);
    await becomes(spec.ref, 'Running');
    return spec.ref;
  };
  /** Names of the objects that are not being deleted; a deleted claim remains until its last pod is gone. */
  const names = (resource: string): string[] =>
    harness.sandbox.store
      .list(resource, { namespace: NAMESPACE })
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => metadata.name ?? '');

  test('creates a running container and shows it as it was specified', async () => {
    const ref = await running();
    await harness.recorder.until(() => shown(ref)?.ready === true);
    expect(shown(ref)).toMatchObject({
      phase: 'Running',
      image: 'debian:12',
      cpu: 1,
      memoryBytes: 512 * 1024 ** 2,
      privileged: false,
      node: expect.any(String),
    });
  });

  test('keeps only the volume of a stopped container, and starts it again from the recorded spec', async () => {
    const ref = await running({ cpu: 2 });
    await containers().stop(ref);
    await becomes(ref, 'Stopped');
    await containers().stop(ref);
    expect(names('pods')).not.toContain(ref.name);
    expect(names('persistentvolumeclaims')).toContain(`${ref.name}-ct-data`);
    await containers().start(ref);
    await becomes(ref, 'Running');
    await containers().start(ref);
    expect(shown(ref)).toMatchObject({ cpu: 2, image: 'debian:12' });
  });

  test('starts a container that is still being stopped as soon as its pod is gone', async () => {
    const ref = await running();
    await containers().stop(ref);
    await containers().start(ref);
    await becomes(ref, 'Running');
  });

  test('deletes the pod, the Service and the volume, and nothing else', async () => {
    const ref = await running();
    const { store } = harness.sandbox;
    const meta = (name: string, labels: Record<string, string>) => ({ name, namespace: NAMESPACE, labels });
    const own = { 'svc.dev/kind': 'ct', 'svc.dev/name': ref.name };
    store.create('services', { apiVersion: 'v1', kind: 'Service', metadata: meta(`proxy-${ref.name}`, own) });
    store.create('services', { apiVersion: 'v1', kind: 'Service', metadata: meta(`${ref.name}`, {}) });
    store.create('secrets', { apiVersion: 'v1', kind: 'Secret', metadata: meta(ref.name, { 'svc.dev/vm': ref.name }) });
    const { steps } = await containers().planDelete(ref);
    expect(steps).toHaveLength(3);
    await containers().delete(ref);
    await harness.recorder.until(() => shown(ref) === undefined);
    expect(names('pods')).not.toContain(ref.name);
    expect(names('persistentvolumeclaims')).not.toContain(`${ref.name}-ct-data`);
    expect(names('services')).toEqual([ref.name]);
    expect(names('secrets')).toContain(ref.name);
    await expect(containers().delete(ref)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
  });

  test('shares no object with a VM of the same name: deleting one leaves the other intact', async () => {
    for (const first of ['vm', 'ct'] as const) {
      const vm = await harness.givenVm('Running');
      const ct: InstanceRef = { ...vm, kind: 'ct' };
      await running({ ref: ct });
      const provisioning = harness.backend.require('provisioning');
      if (first === 'vm') {
        await provisioning.delete(vm);
        await harness.recorder.until(() => harness.recorder.vm(vm) === undefined);
        expect(shown(ct)).toMatchObject({ phase: 'Running' });
        expect(names('persistentvolumeclaims')).toContain(`${ct.name}-ct-data`);
        await containers().delete(ct);
      } else {
        await containers().delete(ct);
        await harness.recorder.until(() => shown(ct) === undefined);
        expect(harness.recorder.vm(vm)).toMatchObject({ status: 'Running' });
        await provisioning.delete(vm);
      }
    }
  });

  test.each([true, false])('opens a working shell that can be resized (privileged: %s)', async (privileged) => {
    const ref = await running({ privileged });
    const shell = await harness.backend.require('consoles').openShell(ref, { columns: 100, rows: 40 });
    shell.stream.write('echo hello\r');
    await readUntil(shell.stream, /\nhello\r/);
    shell.resize({ columns: 80, rows: 24 });
    shell.stream.write('exit\r');
    await new Promise((resolve) => shell.stream.once('close', resolve).resume());
  });

  test('refuses a shell in a container that is stopped or does not exist', async () => {
    const consoles = harness.backend.require('consoles');
    const size = { columns: 80, rows: 24 };
    const ref = await running();
    await containers().stop(ref);
    await becomes(ref, 'Stopped');
    await expect(consoles.openShell(ref, size)).rejects.toMatchObject({ code: 'WRONG_STATE' });
    await expect(consoles.openShell(harness.freshContainer(), size)).rejects.toMatchObject({
      code: 'INSTANCE_NOT_FOUND',
    });
  });

  test('leaves nothing behind when the pod is refused', async () => {
    harness.sandbox.faults.refuseAdmission({ resource: 'pods', verb: 'create' }, 'policy.example', {
      code: 403,
      message: 'no more pods',
    } as never);
    const spec = specOf();
    await expect(containers().create(spec)).rejects.toMatchObject({
      code: 'REJECTED_BY_BACKEND',
      message: expect.stringContaining('no more pods'),
    });
    expect(names('persistentvolumeclaims')).not.toContain(`${spec.ref.name}-ct-data`);
  });

  test('refuses existing names and unknown storage classes, also in the plan', async () => {
    const ref = await running();
    await expect(containers().create(specOf({ ref }))).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    const plan = await containers().planCreate(specOf({ storageClass: 'gold', ref: { ...ref, name: 'ends-badly-' } }));
    expect(plan.refusals.map(({ code }) => code)).toEqual(['INVALID_NAME', 'INVALID_INPUT']);
  });

  test('does not take over an existing volume of the same name', async () => {
    const spec = specOf();
    const name = `${spec.ref.name}-ct-data`;
    harness.sandbox.store.create('persistentvolumeclaims', {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name, namespace: NAMESPACE },
    });
    await expect(containers().create(spec)).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    expect(names('persistentvolumeclaims')).toContain(name);
    expect(shown(spec.ref)).toBeUndefined();
    await expect(containers().delete(spec.ref)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
  });

  test('refuses to start, stop or delete a container that does not exist', async () => {
    for (const act of ['start', 'stop', 'delete', 'planDelete'] as const) {
      await expect(containers()[act](harness.freshContainer())).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
    }
  });
});
