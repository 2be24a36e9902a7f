import type { KubeObject, SandboxContext, SandboxExtension } from '@headgate/kube-sandbox';
import { admitClaims } from './admission/claim-admission.js';
import { admitDataVolumes } from './admission/data-volume-admission.js';
import { admitEvictions } from './admission/eviction-admission.js';
import { admitInstances } from './admission/instance-admission.js';
import { admitMigrations } from './admission/migration-admission.js';
import { admitSnapshots } from './admission/snapshot-admission.js';
import { admitVirtualMachines } from './admission/virtual-machine-admission.js';
import type { Controller } from './controllers/controller.js';
import { GuestRegistry } from './controllers/instance/guest-registry.js';
import { InstanceController } from './controllers/instance/instance-controller.js';
import { DisruptionBudgetController } from './controllers/migration/disruption-budget-controller.js';
import { EvacuationController } from './controllers/migration/evacuation-controller.js';
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
import { describedDefinitions } from './definitions/described-definitions.js';
import { type OptionalPart, simulatedDefinitions } from './definitions/simulated-definitions.js';
import { Faults } from './faults.js';
import { registerKubevirtSubresources } from './subresources/kubevirt-subresources.js';
import { PodSubresources } from './subresources/pod-subresources.js';
import { KubevirtRelease, type KubevirtVersion } from './kubevirt-version.js';
import { DiskContents } from './proxies/disk-contents.js';
import { JobController } from './controllers/jobs/job-controller.js';
import { JobPodController } from './controllers/jobs/job-pod-controller.js';
import { importCluster, type ImportOptions, type ImportReport } from './imports/cluster-import.js';
import { followVmEvents, type VmEvent } from './imports/vm-events.js';
import type { ProgramChooser } from './pods/program.js';
import { registerProxies } from './proxies/register-proxies.js';
import { serveHandlerMetrics } from './metrics/handler-endpoint.js';
import { metricsDefinitions } from './metrics/metrics-definitions.js';
import { churn, type ChurnOptions } from './seeds/churn.js';
import { type ClusterSeed, namespace as namespaceObject, seedCluster } from './seeds/seed-cluster.js';
import { type ContainerSeed, seedContainer } from './seeds/seed-container.js';
import { seedDemo } from './seeds/seed-demo.js';
import { type FleetSeedOptions, seedFleet } from './seeds/seed-fleet.js';
import { buildNode, type NodeSeed } from './seeds/seed-node.js';
import { withHandlers } from './seeds/seed-components.js';
import { seedVm } from './seeds/seed-vm.js';
import type { VmSeed } from './seeds/vm-seed.js';
import { Timings, type TimingName } from './timings.js';
import type { SimulatedGuest } from './guests/simulated-guest.js';
import type { GuestPortChooser } from './guests/simulated-ports.js';
import { RESOURCES } from './resources.js';
import type { PersistentVolumeClaim } from './types/core-kinds.js';
import type { VirtualMachineInstance } from './types/virtual-machine-instance.js';
import { SimulationContext } from './simulation-context.js';

const UPLOAD_TOKEN_MS = 300_000;

export interface SimulationOptions {
  /** Default: the newest known release. */
  kubevirtVersion?: KubevirtVersion;
  /** Components that this cluster does not have. */
  without?: readonly OptionalPart[];
  /** Factor on every duration: 0 makes everything happen immediately, 1 is the default. */
  timeScale?: number;
  timings?: Partial<Record<TimingName, number>>;
  /**
   * How long a token for the upload proxy is valid, in milliseconds of the cluster's time; no factor applies to it.
   * Default: five minutes, as in CDI. Longer for a test whose clock runs ahead of the bytes on its sockets.
   */
  uploadTokenMs?: number;
  /** The initial contents of the cluster; false leaves it empty. */
  cluster?: ClusterSeed | false;
  /** Receives errors inside the simulation. Default: they are collected in `errors`. */
  onError?: (error: unknown, key: string) => void;
}

/** KubeVirt, CDI and related components, with simulated guests, on top of the bare API server. */
export class KubevirtSimulation implements SandboxExtension {
  readonly faults = new Faults();
  /** Errors inside the simulation, at most the newest hundred. Empty in normal operation. */
  readonly errors: unknown[] = [];
  private installed: SimulationContext | undefined;
  private guests: GuestRegistry | undefined;
  private controllers: RunningControllers | undefined;

  constructor(private readonly options: SimulationOptions = {}) {}

  /** @throws Error before the sandbox has installed the simulation */
  get context(): SimulationContext {
    if (!this.installed) throw new Error('the simulation is not installed in a sandbox yet');
    return this.installed;
  }

  /** Adds VMs in a steady state to the cluster, with all objects that belong to them. */
  seedVm(...seeds: VmSeed[]): void {
    for (const seed of seeds) this.load(seed.namespace, seedVm(this.context, seed));
  }

  /** Adds containers with persistent data to the cluster. */
  seedContainer(...seeds: ContainerSeed[]): void {
    for (const seed of seeds) this.load(seed.namespace, seedContainer(this.context, seed));
  }

  seedNode(...seeds: NodeSeed[]): void {
    const now = this.context.clock.timestamp();
    this.context.store.load(
      withHandlers(
        this.context,
        seeds.map((seed) => buildNode(seed, now)),
        now,
      ),
    );
  }

  /** Fills the cluster with 0 to 10,000 VMs, the same ones each time. */
  seedFleet(count: number, options?: FleetSeedOptions): void {
    seedFleet(this.context, count, options);
  }

  /**
   * Adds the objects of another cluster, in parts; see {@link importCluster}. The simulation must be empty: its option
   * `cluster` is false, and its time has not advanced.
   */
  importCluster(objects: readonly KubeObject[], options?: ImportOptions): Generator<void, ImportReport> {
    return importCluster(this.context, objects, options);
  }

  /** Reports new events about VMs and their parts until the returned function is called. */
  followVmEvents(listener: (event: VmEvent) => void): () => void {
    return followVmEvents(this.context, listener);
  }

  /** A handful of VMs and containers, one in every state. */
  seedDemo(): void {
    seedDemo(this.context);
  }

  /** Changes `rate` VMs a second until the returned function is called. */
  churn(rate: number, options?: ChurnOptions): () => void {
    return churn(this.context, rate, options);
  }

  /** Reconciles every object again. With it, a test can prove that no controller has missed a change. */
  resync(): void {
    this.controllers?.resync();
  }

  private load(namespaceName = 'tailvm', objects: KubeObject[]): void {
    const { context } = this;
    const missing = context.find(RESOURCES.namespace, undefined, namespaceName) === undefined;
    context.store.load([...(missing ? [namespaceObject(namespaceName)] : []), ...objects]);
  }

  /** Chooses the simulated programs of the containers of Jobs; undefined restores the built-in ones. */
  choosePrograms(chooser: ProgramChooser | undefined): void {
    this.context.chooseProgram = chooser;
  }

  /** Chooses what accepts connections at the ports of guests; undefined restores the built-in ones. */
  chooseGuestPorts(chooser: GuestPortChooser | undefined): void {
    this.context.chooseGuestPort = chooser;
  }

  /** The inside of a running VM. @throws ApiError 404 */
  guestOf(namespace: string, name: string): SimulatedGuest {
    return this.guests!.of(this.context.store.require<VirtualMachineInstance>(RESOURCES.vmi, { namespace, name }));
  }

  /**
   * Replaces some bytes on the disk of a claim, as its guest does. For small disks.
   * @throws ApiError 404 if there is no such claim
   */
  async writeDisk(namespace: string, claim: string, offset: number, bytes: Buffer): Promise<void> {
    const found = this.context.store.require<PersistentVolumeClaim>(RESOURCES.claim, { namespace, name: claim });
    await this.controllers?.contents.overwrite(found, offset, bytes);
  }

  /** The bytes on the disk of a claim. For small disks. @throws ApiError 404 if there is no such claim */
  async readDisk(namespace: string, claim: string): Promise<Buffer> {
    const found = this.context.store.require<PersistentVolumeClaim>(RESOURCES.claim, { namespace, name: claim });
    const content = await this.controllers?.contents.of(found).read().toArray();
    return Buffer.concat(content ?? []);
  }

  install(server: SandboxContext): () => void {
    const { kubevirtVersion, without = [], timeScale, timings, cluster, uploadTokenMs } = this.options;
    const context = new SimulationContext({
      ...server,
      release: new KubevirtRelease(kubevirtVersion),
      timings: new Timings(timeScale, timings),
      uploadTokenMs: uploadTokenMs ?? UPLOAD_TOKEN_MS,
      faults: this.faults,
      without: new Set(without),
      reportError: (error, key) => this.report(error, key),
    });
    this.installed = context;
    const definitions = [
      ...simulatedDefinitions(context.release, context.without),
      ...(context.without.has('metrics') ? [] : metricsDefinitions(context)),
    ];
    for (const definition of definitions) server.registry.register(definition);
    server.store.load(describedDefinitions(definitions, context.clock.timestamp()));
    this.guests = new GuestRegistry(context);
    this.controllers = startControllers(context, this.guests);
    if (cluster !== false) seedCluster(context, cluster);
    return () => this.controllers?.stop();
  }

  private report(error: unknown, key: string): void {
    if (this.options.onError) return this.options.onError(error, key);
    this.errors.push(error);
    if (this.errors.length > 100) this.errors.shift();
  }
}

type AnyController = Pick<Controller<never>, 'start' | 'stop' | 'resync'>;

interface RunningControllers {
  readonly contents: DiskContents;
  stop(): void;
  resync(): void;
}

function startControllers(context: SimulationContext, guests: GuestRegistry): RunningControllers {
  const kubevirt = !context.without.has('kubevirt');
  const cdi = !context.without.has('cdi');
  const instances = new InstanceController(context, guests);
  const dataVolumes = new DataVolumeController(context);
  // The order matters: an index must receive a change before its readers do.
  const contents = new DiskContents(context);
  const controllers: AnyController[] = [
    new PodController(context),
    new ClaimController(context),
    new JobController(context),
    new JobPodController(context, contents),
  ];
  admitClaims(context);
  if (cdi) admitDataVolumes(context);
  if (cdi) controllers.push(new StorageProfileController(context), dataVolumes);
  if (kubevirt) {
    controllers.push(
      new VirtualMachineController(context),
      instances,
      new MigrationController(context),
      new WorkloadUpdater(context),
      new EvacuationController(context),
      new DisruptionBudgetController(context),
      new SnapshotController(context),
      new RestoreController(context),
      new CloneController(context),
    );
    registerKubevirtSubresources(context, instances, guests);
    serveHandlerMetrics(context);
    admitVirtualMachines(context);
    admitInstances(context);
    admitMigrations(context);
    admitEvictions(context);
    admitSnapshots(context);
  }
  const proxies = kubevirt ? registerProxies(context, dataVolumes, contents) : undefined;
  if (proxies) controllers.push(proxies.exports);
  if (!context.without.has('snapshots')) controllers.push(new VolumeSnapshotController(context));
  new PodSubresources(context).register();
  for (const controller of controllers) controller.start();
  return {
    contents,
    stop: () => {
      for (const controller of controllers) controller.stop();
      proxies?.close();
      contents.close();
    },
    resync: () => {
      for (const controller of controllers) controller.resync();
    },
  };
}
