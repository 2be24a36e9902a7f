import type { ObjectsAtRest } from '@headgate/kube-sandbox';
import { podRequests, type PodRequests } from '../pods/node-load.js';
import { quantityValue } from '../quantity.js';
import { RESOURCES } from '../resources.js';
import type { Pod } from '../types/core-kinds.js';
import type { VirtualMachine } from '../types/virtual-machine.js';
import type { SimulationContext } from '../simulation-context.js';
import { FAULT_ANNOTATION } from '../faults.js';
import { companyMachine, companyStatus, INCIDENTS } from './company-machine.js';
import { fleetNodes } from './company-nodes.js';
import { LOCAL_CSI_CLASS, localCapacity, namespace as namespaceObject } from './seed-cluster.js';
import { CONTAINER_DEFAULTS, containerAtRest, type ContainerSeed } from './seed-container.js';
import { buildNode } from './seed-node.js';
import { withHandlers } from './seed-components.js';
import { seedVm, vmAtRest } from './seed-vm.js';
import { seededChoice, seededNumber } from './seeded-values.js';
import type { SeededVmStatus, VmSeed } from './vm-seed.js';

const NAMESPACES = ['web', 'data', 'platform', 'dev', 'lab'];
const VMS_PER_CONTAINER = 20;
/** A fleet of 40 VMs or more has at least this many containers. */
const FEW_CONTAINERS = 6;
const SMALL_FLEET = 40;
const DAY_MS = 86_400_000;
/**
 * How long guests run: multiples of 7 hours and 12 minutes. With few different times, many guests have equal parts,
 * which are stored once.
 */
const UPTIME_STEP_MS = 432 * 60_000;
const UPTIMES = 150;
/** Longer than clients usually need to list 10,000 VMs. */
const INCIDENTS_AFTER_MS = 20_000;
const CONTAINERS: readonly (readonly [name: string, image: string])[] = [
  ['toolbox', 'registry.example.org/library/debian:12'],
  ['psql', 'registry.example.org/library/postgres:17'],
  ['notebook', 'registry.example.org/library/python:3.13'],
  ['netshoot', 'registry.example.org/library/alpine:3.22'],
  ['docs-preview', 'registry.example.org/library/node:24'],
  ['mirror', 'registry.example.org/library/nginx:1.29'],
];
/** An image that its registry does not have. */
const MISSING_IMAGE = 'registry.example.org/stage/search:2.4.0-rc1';
/** Of a pod that is built only for its requests. */
const NO_ADDRESS = '192.0.2.1';

export const FOLDER_LABEL = 'sandbox.headgate.dev/folder';

/** The `index`th VM of a fleet is always the same, whatever the size of the fleet. */
export const fleetName = (index: number): string => companyMachine(index).name;

export const fleetNamespace = (index: number): string => companyMachine(index).role.namespace;

/** Receives the seeds of a fleet and returns the ones to create instead, for example with other labels. */
export interface FleetSeedOptions {
  vm?: (seed: FleetVmSeed) => VmSeed;
  container?: (seed: FleetContainerSeed) => ContainerSeed;
  /**
   * Whether two of the first VMs never come up: one crashes, the image of the other is missing. They start a while
   * after the fleet was seeded, and retried for as long as the cluster runs. Default false.
   */
  incidents?: boolean;
}

/**
 * The labels are `app`, `stage`, `tier` and, on VMs that the company can't do without, `critical`. The annotation
 * {@link FOLDER_LABEL} is the path of its folder.
 */
export type FleetVmSeed = VmSeed & {
  readonly namespace: string;
  readonly labels: Record<string, string>;
  readonly annotations: Record<string, string>;
};
export type FleetContainerSeed = ContainerSeed & Required<Pick<ContainerSeed, keyof typeof CONTAINER_DEFAULTS>>;

/** Adds `count` VMs (0 to 10,000) to the cluster, with a container for every twentieth and enough nodes for all. */
export function seedFleet(context: SimulationContext, count: number, options: FleetSeedOptions = {}): void {
  const { vm = (seed) => seed, container = (seed) => seed, incidents = false } = options;
  const now = context.clock.timestamp();
  const { store } = context;
  const namespaces = NAMESPACES.filter((name) => !context.find(RESOURCES.namespace, undefined, name)).map(
    namespaceObject,
  );
  const { seeds, nodeOf } = fleetNodes(count);
  const nodes = seeds.map((seed) => buildNode(seed, now));
  const hasLocal = context.find(RESOURCES.storageClass, undefined, LOCAL_CSI_CLASS) !== undefined;
  const capacities = hasLocal ? nodes.map(({ metadata: { name } }) => localCapacity(name)) : [];
  store.load([...namespaces, ...withHandlers(context, nodes, now), ...capacities]);
  const rest = new FleetAtRest(context);
  for (let index = 0; index < containerCount(count); index++)
    rest.addContainer({ node: nodeOf(index), ...container(fleetContainer(context, index)) });
  const failing: VmSeed[] = [];
  for (let index = 0; index < count; index++) {
    const seed = fleetVm(context, index, nodeOf(index));
    const added = vm(incidents ? withIncident(seed) : seed);
    if (incidents && INCIDENTS[seed.name]) failing.push(added);
    rest.addVm(added);
  }
  rest.load();
  if (failing.length > 0) startIncidents(context, failing);
}

const containerCount = (vms: number): number =>
  Math.max(Math.floor(vms / VMS_PER_CONTAINER), vms < SMALL_FLEET ? 0 : FEW_CONTAINERS);

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
  const machine = companyMachine(index);
  const { name, stage, role } = machine;
  const now = context.clock.now();
  const ageMs = (1 + seededNumber(`${name} age`, 400)) * DAY_MS;
  const uptimeMs = (1 + seededNumber(`${name} uptime`, UPTIMES)) * UPTIME_STEP_MS;
  return {
    name,
    namespace: role.namespace,
    node,
    status: companyStatus(machine),
    image: role.image,
    ...role.size,
    labels: { app: role.name, stage, tier: role.tier, ...(role.isCritical ? { critical: 'true' } : {}) },
    annotations: { [FOLDER_LABEL]: role.folder },
    createdAt: new Date(now - ageMs),
    startedAt: new Date(now - Math.min(ageMs, uptimeMs)),
  };
}

/** A VM that can be started, and fails each time, if it is one of the incidents. */
function withIncident(seed: FleetVmSeed): FleetVmSeed {
  const fault = INCIDENTS[seed.name];
  if (!fault) return seed;
  return {
    ...seed,
    status: 'Stopped',
    templateAnnotations: { [FAULT_ANNOTATION]: fault },
    ...(fault === 'image-pull' ? { containerDisk: MISSING_IMAGE } : {}),
  };
}

/** Starts the incidents. Until then, clients can list a large fleet without changes between the pages. */
function startIncidents({ clock, store }: SimulationContext, seeds: readonly VmSeed[]): void {
  clock.schedule(() => {
    for (const { name, namespace } of seeds) {
      const key = { namespace, name };
      if (store.get(RESOURCES.vm, key))
        store.patch<VirtualMachine>(RESOURCES.vm, key, ({ spec }) => void (spec.runStrategy = 'Always'));
    }
  }, INCIDENTS_AFTER_MS);
}

function fleetContainer(context: SimulationContext, index: number): FleetContainerSeed {
  const [purpose, image] = CONTAINERS[index % CONTAINERS.length]!;
  const name = `${purpose}-${Math.floor(index / CONTAINERS.length) + 1}`;
  return {
    ...CONTAINER_DEFAULTS,
    name,
    namespace: seededChoice(`${name} namespace`, NAMESPACES),
    image,
    running: seededNumber(`${name} running`, 4) !== 0,
    privileged: seededNumber(`${name} privileged`, 5) === 0,
    createdAt: new Date(context.clock.now() - seededNumber(`${name} age`, 100) * DAY_MS),
  };
}
