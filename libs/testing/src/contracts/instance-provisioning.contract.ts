import { randomUUID } from 'node:crypto';
import { VM_SOURCES, type Creation, type InstanceProvisioning, type VmSpec } from '@headgate/domain-contracts';
import type { InventoryRecorder } from '../inventory-recorder.js';
import { missingRef, type BackendHarness, type ContractOptions, type OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';
import { MEMORY_NETWORKS, MEMORY_STORAGES } from '../memory-backend/memory-instances.js';
import { recordingReporter } from './recording-reporter.js';

const MIB = 1024 ** 2;

/** The rules for every `InstanceProvisioning`. */
export function instanceProvisioningContract(
  adapter: string,
  open: OpenHarness,
  { timeoutMs = 30_000 }: ContractOptions = {},
): void {
  describe(`InstanceProvisioning, ${adapter}`, () => {
    let harness: BackendHarness;
    let provisioning: InstanceProvisioning;
    let recorder: InventoryRecorder;
    const { inTime } = contractTests(open, timeoutMs, async (opened) => {
      ({ harness } = opened);
      provisioning = harness.backend.require('provisioning');
      recorder = await opened.recorder();
    });

    const spec = async (overrides: Partial<VmSpec> = {}): Promise<VmSpec> => ({
      ref: harness.freshRef(),
      cpu: 1,
      memoryBytes: 256 * MIB,
      diskBytes: 1024 * MIB,
      source: overrides.source ?? (await harness.quickSource()),
      start: false,
      ...overrides,
    });
    const finish = async ({ remaining }: Creation): Promise<void> => remaining?.(recordingReporter());
    const created = async (overrides: Partial<VmSpec> = {}): Promise<VmSpec> => {
      const wanted = await spec(overrides);
      await finish(await provisioning.create(wanted));
      return wanted;
    };

    test('reports for every source whether it is supported', () => {
      expect(Object.keys(provisioning.sources()).sort()).toEqual([...VM_SOURCES].sort());
      for (const can of Object.values(provisioning.sources())) expect(can === true || can.length > 0).toBe(true);
    });

    inTime('plans a creation step by step and creates nothing', async () => {
      const wanted = await spec();
      const plan = await provisioning.planCreate(wanted);
      expect(plan.refusals).toEqual([]);
      expect(plan.steps.length).toBeGreaterThan(0);
      expect(recorder.vm(wanted.ref)).toBeUndefined();
      await expect(provisioning.delete(wanted.ref)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
    });

    inTime(
      'finds the VM of a creation by its ID, and discards neither a complete VM nor that of another creation',
      async () => {
        const creation = randomUUID();
        const wanted = await spec({ creation });
        expect(await provisioning.creationState(wanted.ref, creation)).toBe('absent');
        await finish(await provisioning.create(wanted));
        await recorder.untilVm(wanted.ref, ({ status }) => status === 'Stopped');
        expect(await provisioning.creationState(wanted.ref, creation)).toBe('complete');
        expect(await provisioning.creationState(wanted.ref, randomUUID())).toBe('absent');
        await provisioning.discardCreation(wanted.ref, creation);
        await provisioning.discardCreation(wanted.ref, randomUUID());
        expect(await provisioning.creationState(wanted.ref, creation)).toBe('complete');
        await provisioning.delete(wanted.ref);
      },
    );

    inTime('plans UEFI, Secure Boot and a TPM, or refuses them with a remedy', async () => {
      for (const choice of [{ firmware: 'uefi' }, { firmware: 'uefi-secure' }, { tpm: true }] as const) {
        const { steps, refusals } = await provisioning.planCreate(await spec(choice));
        if (refusals.length === 0) expect(steps.length).toBeGreaterThan(0);
        for (const { code, reason, remedy } of refusals) {
          expect(code).toBe('NOT_SUPPORTED');
          expect(reason).toMatch(/^(firmware|tpm): /);
          expect(remedy).not.toBe('');
        }
      }
    });

    inTime('creates a stopped VM as specified', async () => {
      const { ref } = await created({ cpu: 2 });
      const vm = await recorder.untilVm(ref, ({ status }) => status === 'Stopped');
      expect(vm).toMatchObject({ cpu: 2, memoryBytes: 256 * MIB, diskBytes: 1024 * MIB, tags: [] });
      expect(Date.parse(vm.createdAt ?? '')).not.toBeNaN();
    });

    inTime('creates a VM with its tags, on the requested network', async () => {
      const [, network] = (await harness.givenNetworks?.()) ?? MEMORY_NETWORKS;
      const { ref } = await created({ network, tags: ['web', 'Blue.1'] });
      // From the first moment on: nothing shows it without its tags.
      expect((await recorder.untilVm(ref, () => true)).tags).toEqual(['Blue.1', 'web']);
      const { nics } = await harness.backend.require('hardware').read(ref);
      expect(nics.map((nic) => nic.network)).toEqual([network]);
    });

    inTime('creates the disk of a VM in the requested storage, and deletes it with the VM', async () => {
      const storageClass = (await harness.givenStorage?.()) ?? MEMORY_STORAGES[1];
      const source = (await harness.diskSource?.()) ?? (await harness.quickSource());
      const wanted = await created({ storageClass, source });
      await recorder.untilVm(wanted.ref, ({ status }) => status === 'Stopped');
      expect(await harness.storageOf?.(wanted.ref)).toBe(harness.storageOf && storageClass);
      await provisioning.delete(wanted.ref);
      await recorder.until(() => recorder.vm(wanted.ref) === undefined);
      expect(await harness.storageOf?.(wanted.ref)).toBeUndefined();
    });

    inTime('refuses a network and a storage that do not exist, also in the plan, and creates nothing', async () => {
      const source = (await harness.diskSource?.()) ?? (await harness.quickSource());
      for (const [field, wanted] of [
        ['network', await spec({ network: 'no-such-network' })],
        ['storageClass', await spec({ storageClass: 'no-such-storage', source })],
      ] as const) {
        const { refusals } = await provisioning.planCreate(wanted);
        expect(refusals).toEqual([
          { code: 'INVALID_INPUT', reason: expect.stringMatching(`^${field}: `), remedy: expect.stringMatching('.') },
        ]);
        await expect(provisioning.create(wanted)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
        await expect(provisioning.delete(wanted.ref)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
      }
    });

    inTime('starts the VM on request', async () => {
      const { ref } = await created({ start: true });
      await recorder.untilVm(ref, ({ status }) => status === 'Running');
    });

    inTime('refuses a name that is taken, also in the plan', async () => {
      const { ref } = await created();
      const again = await spec({ ref });
      await expect(provisioning.create(again)).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
      const { refusals } = await provisioning.planCreate(again);
      expect(refusals.map(({ code }) => code)).toContain('ALREADY_EXISTS');
    });

    inTime('creates one VM for two concurrent requests with the same name', async () => {
      const wanted = await spec();
      const results = await Promise.allSettled([provisioning.create(wanted), provisioning.create(wanted)]);
      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      expect(results.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'ALREADY_EXISTS' } });
      for (const result of results) if (result.status === 'fulfilled') await finish(result.value);
      await recorder.untilVm(wanted.ref, ({ status }) => status === 'Stopped');
    });

    inTime('refuses a volume that does not exist and creates nothing', async () => {
      const wanted = await spec({ source: { kind: 'pvc', claim: 'no-such-volume' } });
      await expect(provisioning.create(wanted)).rejects.toMatchObject({ code: 'VOLUME_NOT_FOUND' });
      await expect(provisioning.delete(wanted.ref)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
    });

    inTime('deletes a VM, running or stopped', async () => {
      for (const start of [false, true]) {
        const { ref } = await created({ start });
        await recorder.untilVm(ref, ({ status }) => status === (start ? 'Running' : 'Stopped'));
        const plan = await provisioning.planDelete(ref);
        expect(plan.steps.length).toBeGreaterThan(0);
        await provisioning.delete(ref);
        await recorder.until(() => recorder.vm(ref) === undefined);
      }
    });

    inTime('gives a VM that is created again under the same name another identity', async () => {
      const first = await created();
      const { uid } = await recorder.untilVm(first.ref, ({ status }) => status === 'Stopped');
      await provisioning.delete(first.ref);
      await recorder.until(() => recorder.vm(first.ref) === undefined);
      await created({ ref: first.ref });
      const vm = await recorder.untilVm(first.ref, ({ status }) => status === 'Stopped');
      expect(vm.uid).not.toBe(uid);
    });

    inTime('refuses to delete or tag a VM that does not exist', async () => {
      const missing = missingRef(harness);
      await expect(provisioning.delete(missing)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
      await expect(provisioning.planDelete(missing)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
      await expect(provisioning.setTag(missing, 'web', true)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
    });

    inTime('adds and removes tags, each twice, and shows them sorted', async () => {
      const { ref } = await created();
      const { uid } = await recorder.untilVm(ref, ({ status }) => status === 'Stopped');
      await provisioning.setTag(ref, 'web', true);
      await provisioning.setTag(ref, 'Blue.1', true);
      await provisioning.setTag(ref, 'web', true);
      await recorder.untilVm(ref, ({ tags }) => tags.join() === 'Blue.1,web');
      await provisioning.setTag(ref, 'web', false);
      await provisioning.setTag(ref, 'web', false);
      expect((await recorder.untilVm(ref, ({ tags }) => tags.join() === 'Blue.1')).uid).toBe(uid);
    });

    inTime('protects a VM from deletion and removes the protection, each twice', async () => {
      const { ref } = await created();
      const { uid } = await recorder.untilVm(ref, ({ status }) => status === 'Stopped');
      await provisioning.setProtection(ref, true);
      await provisioning.setProtection(ref, true);
      await recorder.untilVm(ref, (vm) => vm.protected);
      await provisioning.setProtection(ref, false);
      await provisioning.setProtection(ref, false);
      expect((await recorder.untilVm(ref, (vm) => !vm.protected)).uid).toBe(uid);
      await expect(provisioning.setProtection(missingRef(harness), true)).rejects.toMatchObject({
        code: 'INSTANCE_NOT_FOUND',
      });
    });

    inTime('keeps every tag when several are set at the same time', async () => {
      const { ref } = await created();
      await Promise.all(['a', 'b', 'c', 'd'].map((tag) => provisioning.setTag(ref, tag, true)));
      await recorder.untilVm(ref, ({ tags }) => tags.join() === 'a,b,c,d');
    });
  });
}
