import type { ObjectsAtRest } from '@headgate/kube-sandbox';
import { podRequests, type PodRequests } from '../pods/node-load.js';
import { quantityValue } from '../quantity.js';
import { RESOURCES } from '../resources.js';
import type { Pod } from '../types/core-kinds.js';
import type { SimulationContext } from '../simulation-context.js';
import { namespace as namespaceObject } from './seed-cluster.js';
import { CONTAINER_DEFAULTS, containerAtRest, type ContainerSeed, seedContainer } from './seed-container.js';
import { buildNode } from './seed-node.js';
import { withHandlers } from './seed-components.js';
import { seedVm, vmAtRest } from './seed-vm.js';
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
/** Of a pod that is built only for its requests. */
const NO_ADDRESS = '192.0.2.1';

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
  const nodeOf = (index: number): string => nodes[index % nodes.length]!.metadata.name;
  const rest = new FleetAtRest(context);
  for (let index = 0; index < Math.floor(count / VMS_PER_CONTAINER); index++)
    rest.addContainer({ node: nodeOf(index), ...container(fleetContainer(context, index)) });
  for (let index = 0; index < count; index++) rest.addVm(vm(fleetVm(context, index, nodeOf(index))));
  rest.load();
}

/** Collects the seeds of a fleet. Objects at rest are built when they are first read, the few others immediately. */
class FleetAtRest {
  private readonly atRest: ObjectsAtRest[] = [];
  private readonly others: VmSeed[] = [];
  /** What the pods of VMs request, by the fields of their seeds on which it depends. */
  private readonly requests = new Map<string, PodRequests>();

  constructor(private readonly context: SimulationContext) {}

  addContainer(seed: ContainerSeed & { node: string }): void {
    this.atRest.push(containerAtRest(this.context, seed));
    if (seed.running === false) return;
    const { cpu = CONTAINER_DEFAULTS.cpu, memory = CONTAINER_DEFAULTS.memory } = seed;
    this.context.loads.addAtRest(seed.node, { cpu, memory: quantityValue(memory) });
  }

  addVm(seed: VmSeed): void {
    const { status = 'Running', node } = seed;
    if (!this.rests(status) || !node) return void this.others.push(seed);
    this.atRest.push(vmAtRest(this.context, seed));
    if (status === 'Running' || status === 'Paused') this.context.loads.addAtRest(node, this.requestsOf(seed));
  }

  load(): void {
    this.context.store.loadAtRest(this.atRest);
    this.context.store.load(this.others.flatMap((seed) => seedVm(this.context, seed)));
  }

  /** The scheduler retries pods without a node, and the cluster may protect every VM with a disruption budget. */
  private rests(status: SeededVmStatus): boolean {
    const strategy = this.context.kubevirt?.spec.configuration?.evictionStrategy ?? 'None';
    return status !== 'ErrorUnschedulable' && strategy === 'None';
  }

  private requestsOf(seed: VmSeed): PodRequests {
    const { cpu, memory, instancetype, preference, containerDisk } = seed;
    const key = JSON.stringify([cpu, memory, instancetype, preference, containerDisk]);
    let requests = this.requests.get(key);
    if (!requests) {
      const pod = seedVm(this.context, seed, NO_ADDRESS).find(({ kind }) => kind === 'Pod');
      this.requests.set(key, (requests = podRequests(pod as Pod)));
    }
    return requests;
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
