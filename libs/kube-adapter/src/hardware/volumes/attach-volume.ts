import { createHash, randomBytes } from 'node:crypto';
import {
  formatBytes,
  isKubernetesName,
  refusal,
  refusedChange,
  type AttachVolumeChange,
  type PlanStep,
} from '@headgate/domain-contracts';
import { isOutcomeUnknown } from '../../api/kube-api-error.js';
import type { KubeObject } from '../../api/kube-object.js';
import type { ClaimObject, DataVolumeObject, VmObject } from '../../api/object-types.js';
import { CLAIMS, DATA_VOLUMES, VIRTUAL_MACHINES } from '../../api/resources.js';
import { ANNOTATION, LABEL } from '../../labels.js';
import { claimUser } from '../../provisioning/create-checks.js';
import { planned, type PlannedPatch } from '../planned-change.js';
import { claimNameOf, findDataVolume, type HardwareDeps, type VmState } from '../vm-hardware.js';
import { attachment, attachStep, hasVolume } from './hotplug.js';
import type { Plugging } from './plugging.js';
import { roundUp, sizeRefusals } from './sizes.js';
import type { VolumeWaits } from './volume-waits.js';

/** A new disk that is not attached after this time was left behind by a service that has ended. */
const ATTACH_TIMEOUT_MS = 10 * 60_000;

/** Adds a disk to a VM: a new DataVolume, or a claim that exists. */
export class AttachVolume {
  constructor(
    private readonly deps: HardwareDeps,
    private readonly waits: VolumeWaits,
    private readonly plugging: Plugging,
  ) {}

  async plan(state: VmState, { disk }: AttachVolumeChange): Promise<PlannedPatch> {
    return 'sizeBytes' in disk ? this.attachNew(state, disk.sizeBytes) : this.attachExisting(state, disk.volume);
  }

  private async attachNew(state: VmState, wantedBytes: number): Promise<PlannedPatch> {
    const { api } = this.deps;
    const { ref, facts } = state;
    const refusals = sizeRefusals(wantedBytes);
    if (!facts.hasCdi) {
      const reason = 'A new disk needs CDI (containerized-data-importer), which is not installed in this cluster.';
      refusals.push(refusal('NOT_SUPPORTED', reason, 'Install CDI, or attach a claim that exists.'));
    }
    if (refusals.length > 0) return refusedChange(...refusals);
    const bytes = roundUp(wantedBytes);
    const name = `${ref.name}-disk-${randomBytes(4).toString('hex')}`.slice(-63).replace(/^-+/, '');
    const change = attachment(state, { name, dataVolume: { name } });
    const run = async (): Promise<{ volume: string }> => {
      await this.dropUnattached(state);
      const created = await api.create<DataVolumeObject>(
        DATA_VOLUMES,
        blankDisk(state, name, bytes, this.deps.clock.iso()),
      );
      try {
        await this.waits.untilReady(created);
        await this.plugging.plug(state, change, name);
      } catch (error) {
        if (isOutcomeUnknown(error) && (await this.isAttached(state, name))) return { volume: name };
        await api.delete(DATA_VOLUMES, { namespace: ref.namespace, name }, { uid: created.metadata.uid });
        throw error;
      }
      await api.patch(
        DATA_VOLUMES,
        { namespace: ref.namespace, name },
        { metadata: { annotations: { [ANNOTATION.attaching]: null } } },
      );
      return { volume: name };
    };
    const steps: PlanStep[] = [
      { name: 'create', detail: `DataVolume ${name} of ${formatBytes(bytes)}, blank.` },
      attachStep(state, change, name),
    ];
    return planned({ ...change, steps, run });
  }

  private async attachExisting(state: VmState, claim: string): Promise<PlannedPatch> {
    const { api } = this.deps;
    const { ref, spec } = state;
    const found = isKubernetesName(claim)
      ? await api.find<ClaimObject>(CLAIMS, { namespace: ref.namespace, name: claim })
      : undefined;
    if (!found) {
      const reason = `There is no PVC ${claim} in ${ref.namespace}.`;
      return refusedChange(refusal('VOLUME_NOT_FOUND', reason, 'Name a claim in the namespace of the VM.'));
    }
    const isOwn = [...(spec.volumes ?? []), ...(state.vmi?.spec?.volumes ?? [])].some(
      (volume) => claimNameOf(volume) === claim,
    );
    if (isOwn) {
      return refusedChange(
        refusal('ALREADY_EXISTS', `${ref.name} has the PVC ${claim} already.`, 'Name another claim.'),
      );
    }
    const user = await claimUser(api, found);
    if (user !== undefined) {
      return refusedChange(refusal('BUSY', `The PVC ${claim} is used by ${user}.`, 'Name another claim.'));
    }
    const dataVolume = await findDataVolume(api, { namespace: ref.namespace, name: claim });
    const source = dataVolume ? { dataVolume: { name: claim } } : { persistentVolumeClaim: { claimName: claim } };
    const change = attachment(state, { name: volumeNameOf(claim), ...source });
    const run = async (): Promise<{ volume: string }> => {
      await this.plugging.plug(state, change, volumeNameOf(claim));
      return { volume: claim };
    };
    return planned({ ...change, steps: [attachStep(state, change, claim)], run });
  }

  /** Deletes new disks of this VM that a service has left behind before it attached them. */
  private async dropUnattached({ ref, spec }: VmState): Promise<void> {
    const { api, clock } = this.deps;
    const own = await api.list<DataVolumeObject>(DATA_VOLUMES, {
      namespace: ref.namespace,
      labelSelector: `${LABEL.vm}=${ref.name}`,
    });
    for (const { metadata } of own) {
      const since = Date.parse(metadata.annotations?.[ANNOTATION.attaching] ?? '');
      const isUsed = spec.volumes?.some((volume) => claimNameOf(volume) === metadata.name) === true;
      if (!isUsed && clock.now() - since > ATTACH_TIMEOUT_MS) {
        await api.delete(DATA_VOLUMES, { namespace: ref.namespace, name: metadata.name }, { uid: metadata.uid });
      }
    }
  }

  private async isAttached({ ref }: VmState, name: string): Promise<boolean> {
    const vm = await this.deps.api.find<VmObject>(VIRTUAL_MACHINES, ref);
    return vm !== undefined && hasVolume(vm, name);
  }
}

/** Names of volumes are labels; those of claims may be longer, and have dots. */
const volumeNameOf = (claim: string): string =>
  /^[a-z0-9-]{1,63}$/.test(claim) ? claim : `disk-${createHash('sha256').update(claim).digest('hex').slice(0, 16)}`;

const blankDisk = ({ ref }: VmState, name: string, bytes: number, now: string): KubeObject & { spec: object } => ({
  metadata: {
    name,
    namespace: ref.namespace,
    labels: { [LABEL.vm]: ref.name },
    annotations: { [ANNOTATION.attaching]: now },
  },
  spec: { source: { blank: {} }, storage: { resources: { requests: { storage: formatBytes(bytes) } } } },
});
