import { setImmediate } from 'node:timers/promises';
import type { ContainerPhase, Containers, ContainerSpec, InstanceRef } from '@headgate/domain-contracts';
import type { InventoryRecorder } from '../inventory-recorder.js';
import { readUntil } from '../read-until.js';
import { missingContainer, type BackendHarness, type ContractOptions, type OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';

export interface ContainersContractOptions extends ContractOptions {
  /** Whether the engine also runs VMs, so that one may have the name of a container. Default true. */
  readonly hasVms?: boolean;
}

const MIB = 1024 ** 2;

/** The rules for every `Containers`, and for shells in containers. */
export function containersContract(
  adapter: string,
  open: OpenHarness,
  { timeoutMs = 30_000, hasVms = true }: ContainersContractOptions = {},
): void {
  describe(`Containers, ${adapter}`, () => {
    let harness: BackendHarness;
    let containers: Containers;
    let recorder: InventoryRecorder;
    const { inTime, afterTest } = contractTests(open, timeoutMs, async (opened) => {
      ({ harness } = opened);
      containers = harness.backend.require('containers');
      recorder = await opened.recorder();
    });

    const specOf = (ref: InstanceRef = missingContainer(harness)): ContainerSpec => ({
      ref,
      image: harness.containerImage ?? 'debian:12',
      cpu: 1,
      memoryBytes: 256 * MIB,
      diskBytes: 1024 * MIB,
      storageClass: '',
      privileged: false,
    });
    const becomes = (ref: InstanceRef, phase: ContainerPhase) =>
      recorder.untilContainer(ref, (container) => container.phase === phase);
    const running = async (): Promise<InstanceRef> => {
      const { ref } = await created();
      await becomes(ref, 'Running');
      return ref;
    };
    const created = async (): Promise<ContainerSpec> => {
      const spec = specOf();
      await containers.create(spec);
      return spec;
    };

    inTime('plans a creation step by step and creates nothing', async () => {
      const spec = specOf();
      const plan = await containers.planCreate(spec);
      expect(plan.refusals).toEqual([]);
      expect(plan.steps.length).toBeGreaterThan(0);
      await expect(containers.delete(spec.ref)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
    });

    inTime('creates a running container as specified', async () => {
      const { ref, image } = await created();
      const container = await becomes(ref, 'Running');
      expect(container).toMatchObject({ image, cpu: 1, memoryBytes: 256 * MIB, privileged: false });
      expect(container).toMatchObject({ ref, backend: harness.backend.kind });
      expect(container.node).toEqual(expect.any(String));
    });

    inTime('refuses a name that is taken, also in the plan', async () => {
      const spec = await created();
      await expect(containers.create(spec)).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
      const { refusals } = await containers.planCreate(spec);
      expect(refusals.map(({ code }) => code)).toContain('ALREADY_EXISTS');
    });

    inTime('creates one container when two of the same name are requested at the same time', async () => {
      const spec = specOf();
      const results = await Promise.allSettled([containers.create(spec), containers.create(spec)]);
      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      await becomes(spec.ref, 'Running');
    });

    inTime('keeps the identity of a container over stop and start, each of them twice', async () => {
      const ref = await running();
      const { uid } = await becomes(ref, 'Running');
      await containers.stop(ref);
      expect((await becomes(ref, 'Stopped')).ready).toBe(false);
      await containers.stop(ref);
      await containers.start(ref);
      const { uid: again } = await becomes(ref, 'Running');
      await containers.start(ref);
      expect(again).toBe(uid);
    });

    inTime('gives a container that is created again under the same name another identity', async () => {
      const ref = await running();
      const { uid } = await becomes(ref, 'Running');
      await containers.delete(ref);
      await recorder.until(() => recorder.container(ref) === undefined);
      await containers.create(specOf(ref));
      expect((await becomes(ref, 'Running')).uid).not.toBe(uid);
    });

    inTime('keeps tags over a stop, and removes them', async () => {
      const ref = await running();
      await containers.setTag(ref, 'web', true);
      await containers.setTag(ref, 'Blue.1', true);
      await containers.setTag(ref, 'web', true);
      await recorder.untilContainer(ref, ({ tags }) => tags.join() === 'Blue.1,web');
      await containers.stop(ref);
      await recorder.untilContainer(ref, ({ phase, tags }) => phase === 'Stopped' && tags.join() === 'Blue.1,web');
      await containers.setTag(ref, 'web', false);
      await containers.setTag(ref, 'web', false);
      await recorder.untilContainer(ref, ({ tags }) => tags.join() === 'Blue.1');
      const missing = { ...ref, name: `${ref.name}-none` };
      await expect(containers.setTag(missing, 'web', true)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
    });

    inTime('deletes a container, running or not', async () => {
      for (const isStopped of [false, true]) {
        const ref = await running();
        if (isStopped) {
          await containers.stop(ref);
          await becomes(ref, 'Stopped');
        }
        expect((await containers.planDelete(ref)).steps.length).toBeGreaterThan(0);
        await containers.delete(ref);
        await recorder.until(() => recorder.container(ref) === undefined);
      }
    });

    const inTimeWithVms: typeof inTime = (title, rule) => void (hasVms && inTime(title, rule));
    inTimeWithVms('does not touch a VM of the same name', async () => {
      const vm = await harness.givenVm('Stopped');
      const ref = { ...vm, kind: 'ct' as const };
      await containers.create(specOf(ref));
      await becomes(ref, 'Running');
      await containers.delete(ref);
      await recorder.until(() => recorder.container(ref) === undefined);
      await recorder.untilVm(vm, ({ status }) => status === 'Stopped');
    });

    for (const action of ['start', 'stop', 'planDelete', 'delete'] as const) {
      inTime(`refuses ${action} for a container that does not exist`, async () => {
        await expect(containers[action](missingContainer(harness))).rejects.toMatchObject({
          code: 'INSTANCE_NOT_FOUND',
        });
      });
    }

    inTime('has events where the backend has them for containers, apart from those of a VM of its name', async () => {
      const { backend } = harness;
      if (!backend.containerAbilities.includes('events')) return;
      const events = backend.require('events');
      const vm = hasVms ? await harness.givenVm('Stopped') : undefined;
      const ref = vm ? { ...vm, kind: 'ct' as const } : missingContainer(harness);
      await expect(events.recent(ref, 50)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
      await containers.create(specOf(ref));
      await becomes(ref, 'Running');
      const objectsOf = async (instance: InstanceRef) =>
        new Set((await events.recent(instance, 50)).map(({ object }) => object));
      let own = await objectsOf(ref);
      // The backend may report them a moment after the container.
      for (; own.size === 0; own = await objectsOf(ref)) await setImmediate();
      for (const object of vm ? await objectsOf(vm) : []) expect([...own]).not.toContain(object);
    });

    inTime('opens a shell in a running container', async () => {
      const ref = await running();
      const shell = await harness.backend.require('consoles').openShell(ref, { columns: 80, rows: 24 });
      afterTest(() => shell.stream.destroy());
      shell.stream.write('\r');
      expect((await readUntil(shell.stream, /./)).length).toBeGreaterThan(0);
      shell.resize({ columns: 100, rows: 30 });
    });

    inTime('refuses a shell in a stopped container', async () => {
      const ref = await running();
      await containers.stop(ref);
      await becomes(ref, 'Stopped');
      await expect(harness.backend.require('consoles').openShell(ref, { columns: 80, rows: 24 })).rejects.toMatchObject(
        { code: 'WRONG_STATE' },
      );
    });
  });
}
