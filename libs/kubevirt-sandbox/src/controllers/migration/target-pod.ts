import { RESOURCES } from '../../resources.js';
import type { Node, Pod } from '../../types/core-kinds.js';
import type { Migration } from '../../types/kubevirt-kinds.js';
import type { VirtualMachineInstance } from '../../types/virtual-machine-instance.js';
import type { SimulationContext } from '../../simulation-context.js';
import { MIGRATION_LABEL } from '../instance/instance-controller.js';
import { launcherPod } from '../instance/launcher-pod.js';

const VENDOR = 'cpu-vendor.node.kubevirt.io/';
const MIGRATABLE_MODEL = 'cpu-model-migration.node.kubevirt.io/';
const HOST_MODEL = 'host-model-cpu.node.kubevirt.io/';

const labelsWith = (node: Node | undefined, prefix: string): [string, string][] =>
  Object.entries(node?.metadata.labels ?? {}).filter(([label]) => label.startsWith(prefix));

/** The target pod of a migration: not on the current node, and only on nodes with a compatible CPU. */
export function targetPod(context: SimulationContext, migration: Migration, vmi: VirtualMachineInstance): Pod {
  const source = context.find<Node>(RESOURCES.node, undefined, vmi.status?.nodeName ?? '');
  const vendor = context.release.since('1.8') ? Object.fromEntries(labelsWith(source, VENDOR)) : {};
  const hostModel = vmi.spec.domain.cpu?.model === 'host-model' ? labelsWith(source, HOST_MODEL) : [];
  const models = Object.fromEntries(hostModel.map(([label]) => [label.replace(HOST_MODEL, MIGRATABLE_MODEL), 'true']));
  return launcherPod(context, vmi, {
    labels: { [MIGRATION_LABEL]: migration.metadata.uid!, 'kubevirt.io/migration-target-pod': 'true' },
    nodeSelector: { ...vendor, ...models, ...migration.spec.addedNodeSelector },
    avoidNode: vmi.status?.nodeName,
  });
}

export const findTargetPod = (
  context: SimulationContext,
  migration: Migration,
  vmi: VirtualMachineInstance,
): Pod | undefined =>
  context.store
    .ownedBy<Pod>(RESOURCES.pod, vmi.metadata.uid!)
    .find(({ metadata }) => metadata.labels?.[MIGRATION_LABEL] === migration.metadata.uid);
