import { DomainError, type BootSpec } from '@headgate/domain-contracts';
import type { KubeObject } from '../api/kube-object.js';
import type { DataVolumeObject, VmObject } from '../api/object-types.js';
import { CLAIMS, DATA_VOLUMES, VIRTUAL_MACHINES } from '../api/resources.js';
import { ANNOTATION, LABEL } from '../labels.js';
import { BeatingObjects } from '../left-overs/beating-objects.js';
import { isProofVm } from '../proof-vm.js';
import type { WatchDeps } from '../watch/kind-watch.js';
import { proofVm, proofVolume } from './proof-objects.js';

const GONE_INTERVAL_MS = 250;
const MAX_GONE_LOOKUPS = 240;

/** The VMs of proofs, which own the copies of the disks. */
export class ProofMachines extends BeatingObjects<VmObject> {
  constructor(private readonly deps: WatchDeps) {
    super(deps.api, {
      resource: VIRTUAL_MACHINES,
      label: LABEL.proof,
      beat: ANNOTATION.proofBeat,
      annotations: [],
    });
  }

  override includes(object: KubeObject): boolean {
    return isProofVm(object);
  }

  create(spec: BootSpec, namespace: string): Promise<VmObject> {
    return this.deps.api.create<VmObject>(VIRTUAL_MACHINES, proofVm(spec, namespace));
  }

  /** Empty volumes that wait for an upload, one for each disk. */
  async createVolumes(
    machine: VmObject,
    { id, disks }: BootSpec,
    storageClass: string | undefined,
  ): Promise<readonly DataVolumeObject[]> {
    const volumes: DataVolumeObject[] = [];
    for (const [index, { sizeBytes }] of disks.entries()) {
      const manifest = proofVolume(machine, { id, index, sizeBytes }, storageClass);
      volumes.push(await this.deps.api.create<DataVolumeObject>(DATA_VOLUMES, manifest));
    }
    return volumes;
  }

  /** Starts the guest once. It is paused at first. */
  async start({ metadata: { namespace, name } }: VmObject): Promise<void> {
    await this.deps.api.patch(VIRTUAL_MACHINES, { namespace, name }, { spec: { runStrategy: 'Once' } });
  }

  /**
   * Removes the VM of a proof, and waits until the cluster has removed everything that it owns. No error if there is
   * none.
   * @throws DomainError BACKEND_TIMEOUT if the cluster takes long, with everything marked for deletion
   */
  async removeWhole(id: string, namespace?: string): Promise<void> {
    const { api, clock } = this.deps;
    for (const machine of await this.all(namespace, id)) {
      const owned = await this.volumesOf(machine);
      await this.remove(machine);
      const isLeft = async (): Promise<boolean> => {
        if ((await api.find(VIRTUAL_MACHINES, machine.metadata))?.metadata.uid === machine.metadata.uid) return true;
        for (const { metadata } of owned)
          if ((await api.find(DATA_VOLUMES, metadata)) ?? (await api.find(CLAIMS, metadata))) return true;
        return false;
      };
      for (let lookup = 0; await isLeft(); lookup++) {
        if (lookup === MAX_GONE_LOOKUPS)
          throw new DomainError('BACKEND_TIMEOUT', `The cluster has not removed ${machine.metadata.name} yet.`);
        await clock.delay(GONE_INTERVAL_MS);
      }
    }
  }

  private async volumesOf({ metadata }: VmObject): Promise<readonly KubeObject[]> {
    const labelSelector = `${LABEL.proof}=${metadata.labels?.[LABEL.proof]}`;
    const { namespace } = metadata;
    const labeled = await this.deps.api.list(DATA_VOLUMES, {
      ...(namespace !== undefined && { namespace }),
      labelSelector,
    });
    return labeled.filter((one) => one.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid));
  }
}
