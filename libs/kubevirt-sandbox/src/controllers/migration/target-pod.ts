import { RESOURCES } from '../../resources.js';
import type { Node, Pod } from '../../types/core-kinds.js';
import type { Migration } from '../../types/kubevirt-kinds.js';
import type { VirtualMachineInstance } from '../../types/virtual-machine-instance.js';
import type { SimulationContext } from '../../simulation-context.js';
import { MIGRATION_LABEL } from '../instance/instance-controller.js';
import { launcherPod } from '../instance/launcher-pod.js';
import { CPU_FEATURE } from '../instance/launcher-selector.js';

const VENDOR = 'cpu-vendor.node.kubevirt.io/';
const MIGRATABLE_MODEL = 'cpu-model-migration.node.kubevirt.io/';
const HOST_MODEL = 'host-model-cpu.node.kubevirt.io/';
const HOST_FEATURE = 'host-model-required-features.node.kubevirt.io/';

type Selector = Record<string, string>;

/** The labels with one of the prefixes. */
const labelsOf = (labels: Selector | undefined, ...prefixes: string[]): [string, string][] =>
  Object.entries(labels ?? {}).filter(([label]) => prefixes.some((prefix) => label.startsWith(prefix)));

/** The target pod of a migration: on another node, whose CPU and machine types suit the running guest. */
export function targetPod(context: SimulationContext, migration: Migration, vmi: VirtualMachineInstance): Pod {
  const { nodeName = '' } = vmi.status ?? {};
  const source = context.find<Node>(RESOURCES.node, undefined, nodeName);
  const pod = launcherPod(context, vmi, {
    labels: { [MIGRATION_LABEL]: migration.metadata.uid!, 'kubevirt.io/migration-target-pod': 'true' },
    annotations: { 'kubevirt.io/migrationJobName': migration.metadata.name },
    addedSelector: migration.spec.addedNodeSelector,
    apart: true,
  });
  pod.spec.nodeSelector = {
    ...pod.spec.nodeSelector,
    ...(context.release.since('1.8') ? Object.fromEntries(labelsOf(source?.metadata.labels, VENDOR)) : {}),
    ...(vmi.spec.domain.cpu?.model === 'host-model' ? hostModel(source, sourcePod(context, vmi, nodeName)) : {}),
  };
  return pod;
}

/** What the CPU of the guest needs: that of its first host, which the launcher still names after a migration. */
function hostModel(source: Node | undefined, pod: Pod | undefined): Selector {
  const earlier = labelsOf(pod?.spec.nodeSelector, CPU_FEATURE, MIGRATABLE_MODEL);
  if (earlier.length > 0) return Object.fromEntries(earlier);
  return Object.fromEntries(
    labelsOf(source?.metadata.labels, HOST_MODEL, HOST_FEATURE).map(([label, value]) => [
      label.replace(HOST_MODEL, MIGRATABLE_MODEL).replace(HOST_FEATURE, CPU_FEATURE),
      value,
    ]),
  );
}

const sourcePod = (context: SimulationContext, vmi: VirtualMachineInstance, nodeName: string): Pod | undefined =>
  context.store.ownedBy<Pod>(RESOURCES.pod, vmi.metadata.uid!).find(({ spec }) => spec.nodeName === nodeName);

export const findTargetPod = (
  context: SimulationContext,
  migration: Migration,
  vmi: VirtualMachineInstance,
): Pod | undefined =>
  context.store
    .ownedBy<Pod>(RESOURCES.pod, vmi.metadata.uid!)
    .find(({ metadata }) => metadata.labels?.[MIGRATION_LABEL] === migration.metadata.uid);
