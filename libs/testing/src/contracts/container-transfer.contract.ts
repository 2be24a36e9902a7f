import { randomUUID } from 'node:crypto';
import { finished } from 'node:stream/promises';
import type {
  Backend,
  ContainerPhase,
  ContainerTransfer,
  InstanceRef,
  TransferEnd,
  TransferSpec,
} from '@headgate/domain-contracts';
import type { InventoryRecorder } from '../inventory-recorder.js';
import { missingContainer, type BackendHarness, type ContractOptions, type OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';

const MIB = 1024 ** 2;

/** The rules for every `ContainerTransfer`: here, both ends are one backend, and the copy has another name. */
export function containerTransferContract(
  adapter: string,
  open: OpenHarness,
  { timeoutMs = 5000 }: ContractOptions = {},
): void {
  describe(`ContainerTransfer, ${adapter}`, () => {
    let harness: BackendHarness;
    let transfer: ContainerTransfer;
    let recorder: InventoryRecorder;
    let unreachable: Backend;
    const { inTime } = contractTests(open, timeoutMs, async (opened) => {
      ({ harness } = opened);
      transfer = harness.backend.require('containerTransfer');
      recorder = await opened.recorder();
      unreachable = await opened.unreachable();
    });

    const { signal } = new AbortController();
    const becomes = (ref: InstanceRef, phase: ContainerPhase) =>
      recorder.untilContainer(ref, (container) => container.phase === phase);
    const container = async (phase: 'Running' | 'Stopped' = 'Stopped'): Promise<InstanceRef> => {
      const ref = missingContainer(harness);
      const size = { cpu: 1, memoryBytes: 256 * MIB, diskBytes: 64 * MIB, storageClass: '', privileged: false };
      const containers = harness.backend.require('containers');
      await containers.create({ ref, image: harness.containerImage ?? 'debian:12', ...size });
      await becomes(ref, 'Running');
      if (phase === 'Stopped') {
        await containers.stop(ref);
        await becomes(ref, 'Stopped');
      }
      return ref;
    };
    const specFor = async (source: InstanceRef, ref = missingContainer(harness)): Promise<TransferSpec> => ({
      id: randomUUID(),
      ref,
      container: (await transfer.describe(source)).container,
      mapping: { networks: {}, storageClasses: {} },
    });
    const sourceOf = (spec: TransferSpec, ref: InstanceRef): TransferEnd => ({ id: spec.id, ref });
    const copy = async (source: InstanceRef, spec: TransferSpec): Promise<void> => {
      for (const part of spec.container.parts) {
        const archive = await transfer.open(sourceOf(spec, source), { part, signal });
        await transfer.receive(spec, { part, signal }, archive);
      }
    };

    test('is an ability for containers', () => {
      expect(harness.backend.containerAbilities).toContain('containerTransfer');
      expect(harness.backend.requireFor('ct', 'containerTransfer')).toBe(transfer);
    });

    inTime('copies a container whose content is the same, and completes the copy', async () => {
      await transfer.check();
      const source = await container();
      const spec = await specFor(source);
      expect((await transfer.plan(spec)).refusals).toEqual([]);
      expect(await transfer.state(spec)).toBe('absent');
      await copy(source, spec);
      expect(await transfer.state(spec)).toBe('partial');
      for (const part of spec.container.parts) {
        const hash = await transfer.fingerprint(spec, { part, signal });
        expect(hash).toBe(await transfer.fingerprint(sourceOf(spec, source), { part, signal }));
        expect(hash).toMatch(/^[0-9a-f]{64}$/);
      }
      await transfer.commit(spec);
      await transfer.commit(spec);
      expect(await transfer.state(spec)).toBe('committed');
      const [original, copied] = [await becomes(source, 'Stopped'), await becomes(spec.ref, 'Stopped')];
      const { image, cpu, memoryBytes, privileged, tags } = original;
      expect(copied).toMatchObject({ image, cpu, memoryBytes, privileged, tags });
      expect(copied.uid).not.toBe(original.uid);
      await expect(transfer.discard(spec)).rejects.toMatchObject({ code: 'WRONG_STATE' });
      expect(await transfer.state(spec)).toBe('committed');
    });

    inTime('replaces what an interrupted attempt has left, and discards only its own copy', async () => {
      const source = await container();
      const spec = await specFor(source);
      await copy(source, spec);
      await copy(source, spec);
      expect(await transfer.state(spec)).toBe('partial');
      const other = { ...spec, id: randomUUID() };
      expect(await transfer.state(other)).toBe('absent');
      await transfer.discard(other);
      expect(await transfer.state(spec)).toBe('partial');
      await transfer.discard(spec);
      await transfer.discard(spec);
      expect(await transfer.state(spec)).toBe('absent');
      await expect(transfer.commit(spec)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
      await becomes(source, 'Stopped');
    });

    inTime('refuses a name that is taken, and leaves that container as it is', async () => {
      const [source, other] = [await container(), await container()];
      const spec = await specFor(source, other);
      const { uid } = await becomes(other, 'Stopped');
      expect((await transfer.plan(spec)).refusals.map(({ code }) => code)).toEqual(['ALREADY_EXISTS']);
      await expect(copy(source, spec)).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
      await transfer.discard(spec);
      expect((await becomes(other, 'Stopped')).uid).toBe(uid);
    });

    inTime('does not read a container that runs, but describes it', async () => {
      const source = await container('Running');
      const { container: found, refusals } = await transfer.describe(source);
      expect(refusals).toEqual([]);
      expect(found.parts.length).toBeGreaterThan(0);
      const end = { id: randomUUID(), ref: source };
      const part = { part: found.parts[0] ?? '', signal };
      await expect(transfer.open(end, part)).rejects.toMatchObject({ code: 'WRONG_STATE' });
      await expect(transfer.fingerprint(end, part)).rejects.toMatchObject({ code: 'WRONG_STATE' });
    });

    inTime('can be read again after a reader has gone away', async () => {
      const source = await container();
      const spec = await specFor(source);
      const [part = ''] = spec.container.parts;
      const archive = await transfer.open(sourceOf(spec, source), { part, signal });
      archive.destroy();
      await finished(archive).catch(() => undefined);
      await transfer.release(sourceOf(spec, source));
      await copy(source, spec);
      await transfer.discard(spec);
    });

    inTime('has no traces to remove of a container that does not exist', async () => {
      const ref = missingContainer(harness);
      const end = { id: randomUUID(), ref };
      await transfer.release(end);
      await transfer.discard(end);
      await expect(transfer.describe(ref)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
    });

    inTime('fails with BACKEND_UNREACHABLE while the engine does not answer', async () => {
      const away = unreachable.require('containerTransfer');
      const end = { id: randomUUID(), ref: missingContainer(harness) };
      for (const work of [away.check(), away.describe(end.ref), away.state(end), away.discard(end)]) {
        await expect(work).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
      }
    });
  });
}
