import { DomainError } from '@headgate/domain-contracts';
import type { ClaimObject, DataVolumeObject, VmiObject, VmObject } from '../../api/object-types.js';
import { CLAIMS, DATA_VOLUMES, VIRTUAL_MACHINES, VM_INSTANCES } from '../../api/resources.js';
import { bytesOf } from '../../inventory/guest-size.js';
import type { HardwareDeps, VmState } from '../vm-hardware.js';

const POLL_MS = 200;
const FILL_TIMEOUT_MS = 60_000;
const RELEASE_TIMEOUT_MS = 60_000;
const EXPAND_TIMEOUT_MS = 20_000;
/** Phases of a DataVolume that is ready for its first consumer, or filled. */
const READY_PHASES = ['Succeeded', 'WaitForFirstConsumer', 'PendingPopulation'];

/** Waits until a cluster has carried out a change of a volume. */
export class VolumeWaits {
  constructor(private readonly deps: Pick<HardwareDeps, 'api' | 'clock'>) {}

  async untilReady(dataVolume: DataVolumeObject): Promise<void> {
    const { namespace, name } = dataVolume.metadata;
    await this.poll(FILL_TIMEOUT_MS, async () => {
      const now = await this.deps.api.find<DataVolumeObject>(DATA_VOLUMES, { namespace, name });
      if (now?.status?.phase === 'Failed') {
        throw new DomainError('BACKEND_FAILED', `The DataVolume ${name} could not be filled.`);
      }
      return !now || READY_PHASES.includes(now.status?.phase ?? '');
    });
  }

  /** @throws DomainError BACKEND_TIMEOUT */
  async untilReleased({ ref }: VmState, disk: string, volume: string): Promise<void> {
    const isReleased = await this.poll(RELEASE_TIMEOUT_MS, async () => {
      const vmi = await this.deps.api.find<VmiObject>(VM_INSTANCES, ref);
      const isThere = vmi?.spec?.volumes?.some(({ name }) => name === disk);
      return !isThere && !vmi?.status?.volumeStatus?.some(({ name }) => name === disk);
    });
    if (isReleased) return;
    throw new DomainError(
      'BACKEND_TIMEOUT',
      `${ref.name} did not release ${volume} within ${RELEASE_TIMEOUT_MS / 1000} s: unmount it in the guest. The volume is kept.`,
    );
  }

  /** @throws DomainError BACKEND_TIMEOUT while a pod still uses the claim, which the cluster protects until then */
  async untilGone(path: { readonly namespace: string; readonly name: string }): Promise<void> {
    const isGone = await this.poll(RELEASE_TIMEOUT_MS, async () => !(await this.deps.api.find(CLAIMS, path)));
    if (isGone) return;
    throw new DomainError(
      'BACKEND_TIMEOUT',
      `${path.name} is detached, but was not deleted within ${RELEASE_TIMEOUT_MS / 1000} s. The cluster deletes it when nothing uses it anymore.`,
    );
  }

  async untilExpanded(path: { readonly namespace: string; readonly name: string }, storage: string): Promise<void> {
    await this.poll(EXPAND_TIMEOUT_MS, async () => {
      const claim = await this.deps.api.find<ClaimObject>(CLAIMS, path);
      return (bytesOf(claim?.status?.capacity?.storage) ?? 0) >= (bytesOf(storage) ?? 0);
    });
  }

  /** Waits until the VM is as expected, or is gone. */
  async untilVm(ref: VmState['ref'], isMet: (vm: VmObject) => boolean): Promise<void> {
    await this.poll(RELEASE_TIMEOUT_MS, async () => {
      const vm = await this.deps.api.find<VmObject>(VIRTUAL_MACHINES, ref);
      return !vm || isMet(vm);
    });
  }

  /** @returns false if the time has passed first */
  private async poll(timeoutMs: number, isMet: () => Promise<boolean>): Promise<boolean> {
    const { clock } = this.deps;
    const began = clock.now();
    for (;;) {
      if (await isMet()) return true;
      if (clock.now() - began > timeoutMs) return false;
      await clock.delay(POLL_MS);
    }
  }
}
