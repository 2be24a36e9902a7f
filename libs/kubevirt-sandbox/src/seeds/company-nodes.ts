import type { NodeSeed } from './seed-node.js';

const VMS_PER_NODE = 150;
/** A small fleet has this many nodes, too, if it has five VMs for each. */
const FEW_NODES = 6;
const FEW_PER_NODE = 5;
/** Nodes with more VMs than this are large ones. */
const MANY_PER_NODE = 25;

const REGION = 'fra1';
const ZONES = ['fra1-a', 'fra1-b', 'fra1-c'];

/** A model of server. Its share is the number of VMs that it runs in relation to the others. */
interface ServerModel extends Pick<NodeSeed, 'cpus' | 'memory' | 'cpuVendor'> {
  readonly share: number;
}
const SMALL_SERVERS: readonly ServerModel[] = [
  { cpus: 32, memory: '256Gi', share: 2 },
  { cpus: 48, memory: '384Gi', share: 3 },
  { cpus: 64, memory: '512Gi', share: 4, cpuVendor: 'AMD' },
];
const LARGE_SERVERS: readonly ServerModel[] = [
  { cpus: 96, memory: '2Ti', share: 2 },
  { cpus: 128, memory: '3Ti', share: 3 },
  { cpus: 192, memory: '4Ti', share: 4, cpuVendor: 'AMD' },
];

/** The nodes of a fleet, and which of them runs the `index`th VM. */
export interface FleetNodes {
  readonly seeds: readonly NodeSeed[];
  nodeOf(index: number): string;
}

/** Enough nodes for `count` VMs: of three models, in the three zones of a region. */
export function fleetNodes(count: number): FleetNodes {
  const length = Math.max(Math.ceil(count / VMS_PER_NODE), Math.min(FEW_NODES, Math.ceil(count / FEW_PER_NODE)));
  const models = count > length * MANY_PER_NODE ? LARGE_SERVERS : SMALL_SERVERS;
  // The zones change faster than the models, so that each zone has servers of all models.
  const modelOf = (index: number): ServerModel => models[Math.floor(index / ZONES.length) % models.length]!;
  const seeds = Array.from({ length }, (_none, index): NodeSeed => {
    const { share: _share, ...model } = modelOf(index);
    return {
      ...model,
      name: `worker-${String(index + 1).padStart(2, '0')}`,
      pods: 500,
      labels: zoneLabels(index),
      address: `198.51.100.${1 + (index % 250)}`,
    };
  });
  const turns = seeds.flatMap(({ name }, index) => Array.from({ length: modelOf(index).share }, () => name));
  // A step that no number of turns shares a factor with, so that neighbors in the fleet run on different nodes.
  return { seeds, nodeOf: (index) => turns[(index * STEP) % turns.length]! };
}

const STEP = 10_007;

/** The labels of the well-known topology: https://kubernetes.io/docs/reference/labels-annotations-taints/ */
const zoneLabels = (index: number): Record<string, string> => ({
  'topology.kubernetes.io/region': REGION,
  'topology.kubernetes.io/zone': ZONES[index % ZONES.length]!,
});

/** The control plane of the company: one node in each zone. It can run VMs, too. */
export const CONTROL_PLANE: readonly NodeSeed[] = ZONES.map((_zone, index) => ({
  name: `control-${index + 1}`,
  roles: ['control-plane', 'worker'],
  labels: zoneLabels(index),
  address: `192.0.2.${11 + index}`,
}));
