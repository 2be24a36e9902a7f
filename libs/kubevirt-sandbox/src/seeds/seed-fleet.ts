import { RESOURCES } from '../resources.js';
import type { SimulationContext } from '../simulation-context.js';
import { namespace as namespaceObject } from './seed-cluster.js';
import { CONTAINER_DEFAULTS, type ContainerSeed, seedContainer } from './seed-container.js';
import { buildNode } from './seed-node.js';
import { withHandlers } from './seed-components.js';
import { seedVm } from './seed-vm.js';
import { seededChoice, seededNumber } from './seeded-values.js';
import type { SeededVmStatus, VmSeed } from './vm-seed.js';

const NAMESPACES = ['tailvm', 'lab', 'web', 'data', 'build'];
const ROLES = [
  'api',
  'web',
  'db',
  'cache',
  'queue',
  'mail',
  'git',
  'ci',
  'vpn',
  'dns',
  'proxy',
  'search',
  'metrics',
  'backup',
];
const STAGES = ['prod', 'stage', 'dev', 'test'];
const IMAGES = [
  'https://images.example/fedora-cloud-42.qcow2',
  'https://images.example/debian-12-generic.qcow2',
  'https://images.example/ubuntu-24.04-server.img',
  'https://images.example/centos-stream-10.qcow2',
  'https://images.example/windows-2022.qcow2',
];
const SIZES = [
  { cpu: 1, memory: '1Gi', disk: '10Gi' },
  { cpu: 2, memory: '4Gi', disk: '20Gi' },
  { cpu: 4, memory: '8Gi', disk: '40Gi' },
  { cpu: 8, memory: '16Gi', disk: '100Gi' },
];
/** Percentages. Only steady states, so that an idle fleet costs nothing. */
const STATUSES: readonly (readonly [number, SeededVmStatus])[] = [
  [72, 'Running'],
  [94, 'Stopped'],
  [97, 'Paused'],
  [99, 'ErrorUnschedulable'],
  [100, 'DataVolumeError'],
];
const VMS_PER_NODE = 150;
const VMS_PER_CONTAINER = 20;
const DAY_MS = 86_400_000;

export const FOLDER_LABEL = 'sandbox.headgate.dev/folder';

/** The `index`th VM of a fleet is always the same, whatever the size of the fleet. */
export function fleetName(index: number): string {
  const seed = `vm ${index}`;
  return `${seededChoice(`${seed} stage`, STAGES)}-${seededChoice(`${seed} role`, ROLES)}-${String(index).padStart(4, '0')}`;
}

export const fleetNamespace = (index: number): string => seededChoice(`vm ${index} namespace`, NAMESPACES);

/** Receives the seeds of a fleet and returns the ones to create instead, for example with other labels. */
export interface FleetSeedOptions {
  vm?: (seed: FleetVmSeed) => VmSeed;
  container?: (seed: FleetContainerSeed) => ContainerSeed;
}

/** The labels are `app`, `stage` and, on every fifth VM, `critical`. */
export type FleetVmSeed = VmSeed & { readonly labels: Record<string, string> };
export type FleetContainerSeed = ContainerSeed & Required<Pick<ContainerSeed, keyof typeof CONTAINER_DEFAULTS>>;

/** Adds `count` VMs (0 to 10,000) to the cluster, with a container for every twentieth and enough nodes for all. */
export function seedFleet(context: SimulationContext, count: number, options: FleetSeedOptions = {}): void {
  const { vm = (seed) => seed, container = (seed) => seed } = options;
  const now = context.clock.timestamp();
  const { store } = context;
  const namespaces = NAMESPACES.filter((name) => !context.find(RESOURCES.namespace, undefined, name)).map(
    namespaceObject,
  );
  const nodes = Array.from({ length: Math.ceil(count / VMS_PER_NODE) }, (_none, index) =>
    buildNode(
      {
        name: `worker-${String(index + 1).padStart(2, '0')}`,
        cpuVendor: index % 4 === 3 ? 'AMD' : 'Intel',
        cpus: 256,
        memory: '4Ti',
        pods: 500,
        address: `198.51.100.${1 + (index % 250)}`,
      },
      now,
    ),
  );
  store.load([...namespaces, ...withHandlers(context, nodes, now)]);
  const containers = Array.from({ length: Math.floor(count / VMS_PER_CONTAINER) }, (_none, index) =>
    seedContainer(context, container(fleetContainer(context, index))),
  );
  store.load(containers.flat());
  // In portions, so that the whole fleet is not in memory twice.
  for (let from = 0; from < count; from += VMS_PER_NODE) {
    const portion = Array.from({ length: Math.min(VMS_PER_NODE, count - from) }, (_none, index) =>
      seedVm(context, vm(fleetVm(context, from + index, nodes[(from + index) % nodes.length]!.metadata.name))),
    );
    store.load(portion.flat());
  }
}

function fleetVm(context: SimulationContext, index: number, node: string): FleetVmSeed {
  const seed = `vm ${index}`;
  const part = seededNumber(`${seed} status`, 100);
  const name = fleetName(index);
  const [stage, role] = name.split('-');
  return {
    name,
    namespace: fleetNamespace(index),
    node,
    status: STATUSES.find(([limit]) => part < limit)![1],
    image: seededChoice(`${seed} image`, IMAGES),
    ...seededChoice(`${seed} size`, SIZES),
    labels: { app: role!, stage: stage!, ...(seededNumber(`${seed} tag`, 5) === 0 ? { critical: 'true' } : {}) },
    annotations: { [FOLDER_LABEL]: `${stage}/${role}` },
    createdAt: new Date(context.clock.now() - seededNumber(`${seed} age`, 400) * DAY_MS),
  };
}

function fleetContainer(context: SimulationContext, index: number): FleetContainerSeed {
  const seed = `container ${index}`;
  return {
    ...CONTAINER_DEFAULTS,
    name: `box-${String(index).padStart(3, '0')}`,
    namespace: seededChoice(`${seed} namespace`, NAMESPACES),
    running: seededNumber(`${seed} running`, 4) !== 0,
    privileged: seededNumber(`${seed} privileged`, 5) === 0,
    createdAt: new Date(context.clock.now() - seededNumber(`${seed} age`, 100) * DAY_MS),
  };
}

const DEMO_VMS: readonly VmSeed[] = [
  { name: 'web', image: IMAGES[0], labels: { stage: 'prod' }, annotations: { [FOLDER_LABEL]: 'prod/web' } },
  {
    name: 'database',
    cpu: 4,
    memory: '8Gi',
    disk: '100Gi',
    image: IMAGES[1],
    labels: { stage: 'prod', critical: 'true' },
  },
  { name: 'build', status: 'Stopped', image: IMAGES[2] },
  { name: 'frozen', status: 'Paused', image: IMAGES[3] },
  { name: 'desktop', image: IMAGES[4], memory: '8Gi' },
  { name: 'lost', status: 'ErrorUnschedulable' },
  { name: 'broken', status: 'DataVolumeError' },
];

const DEMO_CONTAINERS: readonly ContainerSeed[] = [
  { name: 'tools' },
  { name: 'workshop', privileged: true },
  { name: 'asleep', running: false },
];

/** A handful of VMs and containers, one in every state: for a first look. */
export function seedDemo(context: SimulationContext): void {
  // One at a time, so that each counts in its node's load when the next is placed.
  for (const seed of DEMO_VMS) context.store.load(seedVm(context, seed));
  for (const seed of DEMO_CONTAINERS) context.store.load(seedContainer(context, seed));
}
