import { throwFirstRefusal, type InstanceRef, type Refusal } from '@headgate/domain-contracts';
import { instanceNotFound, KubeApiError } from '../api/kube-api-error.js';
import type { KubeApi } from '../api/kube-api.js';
import type { VmObject } from '../api/object-types.js';
import { CLAIMS, DATA_VOLUMES, SNAPSHOTS, subresourcePath, VIRTUAL_MACHINES, type Resource } from '../api/resources.js';
import { vmOwner } from '../api/vm-owner.js';
import type { ClusterDiscovery } from '../discovery/cluster-discovery.js';
import { LABEL } from '../labels.js';
import { ownedObjects, type OwnedObject } from './owned-objects.js';

const ADOPTED: readonly Resource[] = [SNAPSHOTS, DATA_VOLUMES, CLAIMS];

/** Deletes a VM with every object that belongs to it. */
export class VmDeletion {
  constructor(
    private readonly api: KubeApi,
    private readonly discovery: ClusterDiscovery,
  ) {}

  refusals({ name }: InstanceRef, vm: VmObject): Refusal[] {
    if (vm.metadata.labels?.[LABEL.deleteProtection]?.toLowerCase() !== 'true') return [];
    return [
      {
        code: 'REJECTED_BY_BACKEND',
        reason: `${name} is protected against deletion by OpenShift's label ${LABEL.deleteProtection}.`,
        remedy: 'Remove the label first.',
      },
    ];
  }

  async delete(ref: InstanceRef): Promise<void> {
    const vm = await this.api.find<VmObject>(VIRTUAL_MACHINES, ref);
    if (vm) throwFirstRefusal({ refusals: this.refusals(ref, vm) });
    const uid = vm?.metadata.uid;
    const owned = await ownedObjects(this.api, await this.discovery.facts(), { ref, uid });
    // Objects without their VM are left over from an interrupted deletion, which a second one completes.
    if (!vm && owned.length === 0) throw instanceNotFound(ref);
    if (vm) await this.adopt(vm, owned);
    if (vm) await this.deleteVm(ref, uid, vm.status?.created === true);
    for (const { resource, object } of owned) {
      await this.api.delete(
        resource,
        { namespace: ref.namespace, name: object.metadata.name },
        { uid: object.metadata.uid },
      );
    }
  }

  /**
   * Makes the VM own what only its label connects with it: snapshots, which outlive a VM that others delete, and disks
   * that were attached later. The cluster deletes them with the VM, also if this service ends right after that.
   */
  private async adopt(vm: VmObject, owned: readonly OwnedObject[]): Promise<void> {
    for (const { resource, object } of owned) {
      const { namespace, name = '', ownerReferences = [] } = object.metadata;
      if (!ADOPTED.includes(resource) || ownerReferences.length > 0) continue;
      try {
        await this.api.patch(resource, { namespace, name }, { metadata: { ownerReferences: [vmOwner(vm)] } });
      } catch (error) {
        // It is deleted after the VM in any case.
        if (!(error instanceof KubeApiError)) throw error;
      }
    }
  }

  /** Deletes the VM object. The cluster collects the objects that it owns. */
  async deleteVm(ref: InstanceRef, uid: string | undefined, running = true): Promise<void> {
    if (running) await this.forceStop(ref);
    await this.api.delete(VIRTUAL_MACHINES, ref, { uid });
  }

  /** Deleting a running VM waits for the guest to shut down, a minute or more. */
  private async forceStop({ namespace, name }: InstanceRef): Promise<void> {
    try {
      const path = subresourcePath(namespace, 'virtualmachines', name, 'stop');
      // A second forced stop has no other effect than the first one.
      await this.api.invoke(path, { gracePeriod: 0 }, async () => false);
    } catch (error) {
      // A VM that can't be stopped can still be deleted.
      if (!(error instanceof KubeApiError)) throw error;
    }
  }
}
