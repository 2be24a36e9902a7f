import type { KubeObject } from '@headgate/kube-sandbox';
import { buildNode } from '../seeds/seed-node.js';
import type { VirtualMachineInstance } from '../types/virtual-machine-instance.js';
import type { SimulationContext } from '../simulation-context.js';
import { ofKind } from './invented-settings.js';

/** Far more than any guest needs. */
const AMPLE = { cpus: 100_000, memory: '1Pi', pods: 100_000 };
const ONLY_NODE = 'invented-node';

/** One node with room for everything for each node that a guest runs on, or one if there is none. */
export function inventedNodes(
  context: SimulationContext,
  objects: readonly KubeObject[],
  notes: string[],
): KubeObject[] {
  const guests = ofKind<VirtualMachineInstance>(objects, 'VirtualMachineInstance');
  const used = [...new Set(guests.flatMap(({ status }) => status?.nodeName ?? []))];
  const names = used.length > 0 ? used : [ONLY_NODE];
  const labels = Object.fromEntries(guests.flatMap(neededLabels).map((label) => [label, 'true']));
  notes.push(
    `The nodes could not be read: ${names.length} invented ${names.length === 1 ? 'one has' : 'ones have'} room for everything, so a lack of room does not show.`,
  );
  const now = context.clock.timestamp();
  return names.map((name) => buildNode({ name, ...AMPLE, cpuManager: true, labels }, now));
}

/** What the guests of today need of their nodes, these nodes had. */
function neededLabels({ spec, status }: VirtualMachineInstance): string[] {
  const { cpu, machine } = spec.domain;
  return [
    ...[status?.machine?.type, machine?.type].flatMap((type) =>
      type ? [`machine-type.node.kubevirt.io/${type}`] : [],
    ),
    ...(cpu?.model ? [`cpu-model.node.kubevirt.io/${cpu.model}`] : []),
    ...(cpu?.features ?? []).map(({ name }) => `cpu-feature.node.kubevirt.io/${name}`),
  ];
}
