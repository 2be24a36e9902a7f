import { DomainError, type InstanceRef, type Refusal } from '@headgate/domain-contracts';
import { KubeApiError } from '../api/kube-api-error.js';
import type { KubeApi } from '../api/kube-api.js';
import { subresourcePath, VIRTUAL_MACHINES } from '../api/resources.js';
import { instanceNotFound } from '../instance-not-found.js';
import type { VmObject } from '../inventory/vm-object.js';
import { LABEL } from '../labels.js';
import { belongingsOf } from './vm-belongings.js';

/** Removes a VM with everything that belongs to it. */
export class VmDeletion {
  constructor(private readonly api: KubeApi) {}

  refusals({ name }: InstanceRef, vm: VmObject): Refusal[] {
    if (vm.metadata.labels?.[LABEL.deleteProtection]?.toLowerCase() !== 'true') return [];
    return [
      {
        code: 'REJECTED_BY_BACKEND',
        reason: `${name} is protected against deletion by the label ${LABEL.deleteProtection}.`,
        remedy: 'Remove the label first.',
      },
    ];
  }

  async carryOut(ref: InstanceRef): Promise<void> {
    const vm = await this.api.find<VmObject>(VIRTUAL_MACHINES, ref);
    const [refusal] = vm ? this.refusals(ref, vm) : [];
    if (refusal) throw new DomainError('REJECTED_BY_BACKEND', refusal.reason);
    const uid = vm?.metadata.uid;
    const belongings = await belongingsOf(this.api, ref, uid);
    // A deletion that was cut off after the VM left these behind: asking again finishes it.
    if (!vm && belongings.length === 0) throw instanceNotFound(ref);
    if (vm) await this.removeVm(ref, uid, vm.status?.created === true);
    for (const { resource, object } of belongings) {
      await this.api.delete(
        resource,
        { namespace: ref.namespace, name: object.metadata.name },
        { uid: object.metadata.uid },
      );
    }
  }

  /** The VM alone; what it owns is collected by the cluster. */
  async removeVm(ref: InstanceRef, uid: string | undefined, running = true): Promise<void> {
    if (running) await this.pullThePlug(ref);
    await this.api.delete(VIRTUAL_MACHINES, ref, { uid });
  }

  /** Deleting alone would wait for the guest to shut down, a minute or more. */
  private async pullThePlug({ namespace, name }: InstanceRef): Promise<void> {
    try {
      await this.api.act(subresourcePath(namespace, 'virtualmachines', name, 'stop'), { gracePeriod: 0 });
    } catch (error) {
      // Whatever stands in the way of stopping does not stand in the way of deleting.
      if (!(error instanceof KubeApiError)) throw error;
    }
  }
}
