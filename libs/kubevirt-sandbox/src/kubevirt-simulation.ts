import type { KubeObject, SandboxContext, SandboxExtension } from '@headgate/kube-sandbox';
import { admitClaims } from './admission/claim-admission.js';
import { admitDataVolumes } from './admission/data-volume-admission.js';
import { admitInstances } from './admission/instance-admission.js';
import { admitMigrations } from './admission/migration-admission.js';
import { admitSnapshots } from './admission/snapshot-admission.js';
import { admitVirtualMachines } from './admission/virtual-machine-admission.js';
import type { Controller } from './controllers/controller.js';
import { GuestRegistry } from './controllers/instance/guest-registry.js';
import { InstanceController } from './controllers/instance/instance-controller.js';
import { MigrationController } from './controllers/migration/migration-controller.js';
import { WorkloadUpdater } from './controllers/migration/workload-updater.js';
import { CloneController } from './controllers/snapshots/clone-controller.js';
import { RestoreController } from './controllers/snapshots/restore-controller.js';
import { SnapshotController } from './controllers/snapshots/snapshot-controller.js';
import { VolumeSnapshotController } from './controllers/snapshots/volume-snapshot-controller.js';
import { PodController } from './controllers/pods/pod-controller.js';
import { ClaimController } from './controllers/storage/claim-controller.js';
import { DataVolumeController } from './controllers/storage/data-volume-controller.js';
import { StorageProfileController } from './controllers/storage/storage-profile-controller.js';
import { VirtualMachineController } from './controllers/virtual-machine/virtual-machine-controller.js';
import { type OptionalPart, simulatedDefinitions } from './definitions/simulated-definitions.js';
import { Faults } from './faults.js';
import { registerKubevirtSubresources } from './subresources/kubevirt-subresources.js';
import { PodSubresources } from './subresources/pod-subresources.js';
import { KubevirtRelease, type KubevirtVersion } from './kubevirt-version.js';
import { registerProxies } from './proxies/register-proxies.js';
import { metricsDefinitions } from './metrics/metrics-definitions.js';
import { churn, type ChurnOptions } from './seeds/churn.js';
import { type ClusterSeed, namespace as namespaceObject, seedCluster } from './seeds/seed-cluster.js';
import { type ContainerSeed, seedContainer } from './seeds/seed-container.js';
import { type FleetSeedOptions, seedDemo, seedFleet } from './seeds/seed-fleet.js';
import { buildNode, type NodeSeed } from './seeds/seed-node.js';
import { seedVm } from './seeds/seed-vm.js';
import type { VmSeed } from './seeds/vm-seed.js';
import { Timings, type TimingName } from './timings.js';
import type { SimulatedGuest } from './guests/simulated-guest.js';
import { RESOURCES } from './resources.js';
import type { VirtualMachineInstance } from './types/virtual-machine-instance.js';
import { World } from './world.js';

export interface SimulationOptions {
  /** Default: the newest known. */
  kubevirtVersion?: KubevirtVersion;
  /** Parts that this cluster does not have. */
  without?: readonly OptionalPart[];
  /** Factor on every duration: 0 makes everything happen at once, 1 (default) is lively. */
  timeScale?: number;
  timings?: Partial<Record<TimingName, number>>;
  /** What the cluster starts with; false leaves it bare. */
  cluster?: ClusterSeed | false;
  /** Hears of mistakes inside the simulation. Default: they are collected in `errors`. */
  onError?: (error: unknown, key: string) => void;
}

/** KubeVirt, CDI and their neighbours, with simulated guests, on top of the bare API server. */
export class KubevirtSimulation implements SandboxExtension {
  readonly faults = new Faults();
  /** Mistakes inside the simulation, the newest hundred; empty when all is well. */
  readonly errors: unknown[] = [];
  private installed: World | undefined;
  private guests: GuestRegistry | undefined;

  constructor(private readonly options: SimulationOptions = {}) {}

  /** @throws Error before the sandbox has installed the simulation */
  get world(): World {
    if (!this.installed) throw new Error('the simulation is not installed in a sandbox yet');
    return this.installed;
  }

  /** Puts VMs in a steady state into the cluster, with all that belongs to them. */
  seedVm(...seeds: VmSeed[]): void {
    for (const seed of seeds) this.load(seed.namespace, seedVm(this.world, seed));
  }

  /** Puts containers that keep their data into the cluster. */
  seedContainer(...seeds: ContainerSeed[]): void {
    for (const seed of seeds) this.load(seed.namespace, seedContainer(this.world, seed));
  }

  seedNode(...seeds: NodeSeed[]): void {
    this.world.store.load(seeds.map((seed) => buildNode(seed, this.world.clock.timestamp())));
  }

  /** Fills the cluster with 0 to 10,000 VMs, always the same ones. */
  seedFleet(count: number, options?: FleetSeedOptions): void {
    seedFleet(this.world, count, options);
  }

  /** A handful of VMs and containers, one in every state. */
  seedDemo(): void {
    seedDemo(this.world);
  }

  /** Changes `rate` VMs a second until the returned function is called. */
  churn(rate: number, options?: ChurnOptions): () => void {
    return churn(this.world, rate, options);
  }

  private load(namespaceName = 'tailvm', objects: KubeObject[]): void {
    const { world } = this;
    const missing = world.find(RESOURCES.namespace, undefined, namespaceName) === undefined;
    world.store.load([...(missing ? [namespaceObject(namespaceName)] : []), ...objects]);
  }

  /** The inside of a running VM. @throws ApiError 404 */
  guestOf(namespace: string, name: string): SimulatedGuest {
    return this.guests!.of(this.world.store.require<VirtualMachineInstance>(RESOURCES.vmi, { namespace, name }));
  }

  install(context: SandboxContext): () => void {
    const { kubevirtVersion, without = [], timeScale, timings, cluster } = this.options;
    const world = new World(
      context.store,
      context.registry,
      context.clock,
      context.events,
      context.admission,
      context.subresources,
      new KubevirtRelease(kubevirtVersion),
      new Timings(timeScale, timings),
      this.faults,
      new Set(without),
      (error, key) => this.report(error, key),
    );
    this.installed = world;
    for (const definition of simulatedDefinitions(world.release, world.without)) context.registry.register(definition);
    if (!world.without.has('metrics'))
      for (const definition of metricsDefinitions(world)) context.registry.register(definition);
    this.guests = new GuestRegistry(world);
    const stop = startControllers(world, this.guests);
    if (cluster !== false) seedCluster(world, cluster);
    return stop;
  }

  private report(error: unknown, key: string): void {
    if (this.options.onError) return this.options.onError(error, key);
    this.errors.push(error);
    if (this.errors.length > 100) this.errors.shift();
  }
}

type AnyController = Pick<Controller<never>, 'start' | 'stop'>;

/** @returns what stops them */
function startControllers(world: World, guests: GuestRegistry): () => void {
  const kubevirt = !world.without.has('kubevirt');
  const cdi = !world.without.has('cdi');
  const instances = new InstanceController(world, guests);
  const dataVolumes = new DataVolumeController(world);
  // Order matters: whoever keeps an index hears of a change before those who read it.
  const controllers: AnyController[] = [new PodController(world), new ClaimController(world)];
  admitClaims(world);
  if (cdi) admitDataVolumes(world);
  if (cdi) controllers.push(new StorageProfileController(world), dataVolumes);
  if (kubevirt) {
    controllers.push(
      new VirtualMachineController(world),
      instances,
      new MigrationController(world),
      new WorkloadUpdater(world),
      new SnapshotController(world),
      new RestoreController(world),
      new CloneController(world),
    );
    registerKubevirtSubresources(world, instances, guests);
    admitVirtualMachines(world);
    admitInstances(world);
    admitMigrations(world);
    admitSnapshots(world);
  }
  const proxies = kubevirt ? registerProxies(world, dataVolumes) : undefined;
  if (proxies) controllers.push(proxies.exports);
  if (!world.without.has('snapshots')) controllers.push(new VolumeSnapshotController(world));
  new PodSubresources(world).register();
  for (const controller of controllers) controller.start();
  return () => {
    for (const controller of controllers) controller.stop();
    proxies?.close();
  };
}
