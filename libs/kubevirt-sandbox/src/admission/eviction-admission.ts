import { type ApiError, denied } from '@headgate/kube-sandbox';
import { evictionStrategyOf, isMigratable, isProtected } from '../eviction-strategy.js';
import { RESOURCES } from '../resources.js';
import type { SimulationContext } from '../simulation-context.js';
import type { Pod } from '../types/core-kinds.js';
import type { VirtualMachineInstance } from '../types/virtual-machine-instance.js';

const WEBHOOK = 'virt-launcher-eviction-interceptor.kubevirt.io';

const refusal = (message: string): ApiError => denied(WEBHOOK, { code: 429, message });

/**
 * Turns the eviction of a launcher pod into a migration of its VMI, and refuses that of a hotplug pod. Source of the
 * texts: pod-eviction-admitter.go.
 */
export function admitEvictions(context: SimulationContext): void {
  context.admission.addValidating<Pod>({
    name: WEBHOOK,
    resources: [RESOURCES.pod],
    subresources: ['eviction'],
    operations: ['CREATE'],
    admit: ({ object, dryRun }) => {
      if (object.metadata.labels?.['kubevirt.io'] === 'hotplug-disk') refuseHotplugPod(context, object);
      if (isLauncher(object)) admitLauncher(context, object, dryRun);
    },
  });
}

const isLauncher = ({ metadata, status }: Pod): boolean =>
  metadata.labels?.['kubevirt.io'] === 'virt-launcher' && !['Succeeded', 'Failed'].includes(status?.phase ?? '');

const vmiOf = (context: SimulationContext, { metadata }: Pod): VirtualMachineInstance | undefined =>
  context.find<VirtualMachineInstance>(
    RESOURCES.vmi,
    metadata.namespace,
    metadata.annotations?.['kubevirt.io/domain'] ?? '',
  );

/** @throws ApiError 429 */
function refuseHotplugPod(context: SimulationContext, { metadata }: Pod): void {
  const owner = context.find<Pod>(RESOURCES.pod, metadata.namespace, metadata.ownerReferences?.[0]?.name ?? '');
  const vmi = owner && isLauncher(owner) ? vmiOf(context, owner) : undefined;
  if (!vmi) return;
  throw refusal(
    `cannot evict hotplug pod: ${metadata.name} associated with running vmi: ${vmi.metadata.name} in namespace ${metadata.namespace}`,
  );
}

/** @throws ApiError 429 */
function admitLauncher(context: SimulationContext, pod: Pod, dryRun: boolean): void {
  const vmi = vmiOf(context, pod);
  if (!vmi || !isProtected(context, vmi)) return;
  const { namespace, name } = vmi.metadata;
  if (evictionStrategyOf(context, vmi) === 'LiveMigrate' && !isMigratable(vmi)) {
    throw refusal(`VMI ${name} is configured with an eviction strategy but is not live-migratable`);
  }
  const message = `Eviction triggered evacuation of VMI "${namespace}/${name}"`;
  if (vmi.status?.evacuationNodeName) throw refusal(`Evacuation in progress: ${message}`);
  if (vmi.status?.nodeName !== pod.spec.nodeName) throw refusal('Eviction request for target Pod');
  if (!dryRun) {
    context.store.patch<VirtualMachineInstance>(RESOURCES.vmi, vmi.metadata, (draft) => {
      draft.status!.evacuationNodeName = pod.spec.nodeName;
    });
  }
  throw refusal(message);
}
