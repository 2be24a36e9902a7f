import type { Backend, GuestInspection, InstanceRef } from '@headgate/domain-contracts';
import type { InventoryRecorder } from '../inventory-recorder.js';
import { missingRef, type BackendHarness, type ContractOptions, type OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';

/** The rules for every `GuestInspection`. */
export function guestInspectionContract(
  adapter: string,
  open: OpenHarness,
  { timeoutMs = 30_000 }: ContractOptions = {},
): void {
  describe(`GuestInspection, ${adapter}`, () => {
    let harness: BackendHarness;
    let guests: GuestInspection;
    let recorder: InventoryRecorder;
    let unreachable: Backend;

    const { inTime } = contractTests(open, timeoutMs, async (opened) => {
      ({ harness } = opened);
      guests = harness.backend.require('guestInfo');
      recorder = await opened.recorder();
      unreachable = await opened.unreachable();
    });
    const withAgent = async (): Promise<InstanceRef> => {
      const vm = await harness.givenVm('Running', { booted: true });
      await recorder.untilVm(vm, ({ agentConnected }) => agentConnected);
      return vm;
    };

    inTime('reports the system, the users and the file systems of a guest', async () => {
      const { os, users, filesystems } = await guests.info(await withAgent());
      expect([os.id, os.name, os.prettyName, os.kernel, os.hostname]).not.toContain('');
      const root = filesystems.find(({ mountPoint }) => mountPoint === '/');
      expect(root?.totalBytes).toBeGreaterThan(0);
      expect(root?.usedBytes).toBeLessThanOrEqual(root?.totalBytes ?? 0);
      expect([root?.disk, root?.type]).not.toContain('');
      for (const { name, loginTime } of users) {
        expect(name).not.toBe('');
        if (loginTime !== null) expect(new Date(loginTime).toISOString()).toBe(loginTime);
      }
    });

    inTime('knows nothing about a guest that is not running', async () => {
      const vm = await harness.givenVm('Stopped');
      await expect(guests.info(vm)).rejects.toMatchObject({ code: 'GUEST_AGENT_UNREACHABLE' });
    });

    inTime('knows no VM that does not exist', async () => {
      await expect(guests.info(missingRef(harness))).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
    });

    inTime('reports a backend that does not answer', async () => {
      const away = unreachable.require('guestInfo').info({ ...missingRef(harness), context: unreachable.context });
      await expect(away).rejects.toMatchObject({ code: expect.stringMatching(/^BACKEND_(UNREACHABLE|TIMEOUT)$/) });
    });
  });
}
