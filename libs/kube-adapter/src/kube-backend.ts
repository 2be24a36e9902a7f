import {
  Backend,
  UnavailableAbility,
  type Abilities,
  type AbilityName,
  type BackendTraits,
  type Clock,
  type Log,
  SILENT_LOG,
} from '@headgate/domain-contracts';
import { obstacleTo } from './ability-needs.js';
import { KubeBackupSource } from './backup-source/kube-backup-source.js';
import { KubeApi } from './api/kube-api.js';
import { KubeConnection, type WriteFence } from './api/kube-connection.js';
import { KubeCredentials } from './api/kube-credentials.js';
import type { KubeconfigSource } from './api/kubeconfig-source.js';
import { KubeClusterInventory } from './cluster/kube-cluster-inventory.js';
import { KubeCloning } from './cloning/kube-cloning.js';
import { KubeDiskBuilds } from './builds/kube-disk-builds.js';
import type { DiskBuildOptions } from './builds/build-objects.js';
import { KubeConsoles } from './consoles/kube-consoles.js';
import { KubeContainerFiles } from './container-files/kube-container-files.js';
import { KubeContainerLogs } from './containers/kube-container-logs.js';
import { KubeContainers } from './containers/kube-containers.js';
import { KubeDiagnostics } from './diagnostics/kube-diagnostics.js';
import { ClusterDiscovery } from './discovery/cluster-discovery.js';
import { KubeDiskMove } from './disk-move/kube-disk-move.js';
import { ClusterExports } from './export/cluster-exports.js';
import { KubeExport } from './export/kube-export.js';
import { KubeEvents } from './events/kube-events.js';
import { KubeGuestInspection } from './guests/kube-guest-inspection.js';
import { KubeGuestPorts } from './guest-ports/kube-guest-ports.js';
import { KubeHardware } from './hardware/kube-hardware.js';
import { KubeHostResources } from './host-resources/kube-host-resources.js';
import { ImageUploads, type UploadProxyOptions } from './images/image-uploads.js';
import { KubeImages } from './images/kube-images.js';
import { KubeInventory } from './inventory/kube-inventory.js';
import { HandlerMetrics } from './metrics/handler-metrics.js';
import { KubeMetrics } from './metrics/kube-metrics.js';
import { KubeMigration } from './migration/kube-migration.js';
import { KUBEVIRT_TRAITS } from './kubevirt-traits.js';
import { KubeNodeScheduling } from './nodes/kube-node-scheduling.js';
import { KubePower } from './power/kube-power.js';
import { KubeProvisioning } from './provisioning/kube-provisioning.js';
import { KubeBootProof, type TakePicture } from './proof/kube-boot-proof.js';
import { KubeSnapshots } from './snapshots/kube-snapshots.js';
import { KubeDiskIngest } from './moves/kube-disk-ingest.js';
import { KubeDiskSource } from './moves/kube-disk-source.js';
import { KubeTwinSource } from './twin/kube-twin-source.js';
import { Reachability } from './watch/reachability.js';
import { versionProbe } from './watch/version-probe.js';

export interface KubeBackendOptions {
  /** The context's name, as the operator gave it. */
  readonly context: string;
  readonly kubeconfig: KubeconfigSource;
  /** The kubeconfig's context; absent: its current one. */
  readonly kubeContext?: string;
  readonly clock: Clock;
  readonly log?: Log;
  /** Watches only these namespaces, for an account that may not list the whole cluster. */
  readonly namespaces?: readonly string[];
  /** The namespace of new instances when a request names none. */
  readonly defaultNamespace?: string;
  readonly uploadProxy?: UploadProxyOptions;
  /** Allows builds of disks in the cluster. Absent: they are built on the machine of the service. */
  readonly diskBuilds?: DiskBuildOptions;
  /** Whether disk and network of VMs are read from virt-handler, which needs the right to its proxy. Default false. */
  readonly handlerMetrics?: boolean;
  /** Whether nodes are cordoned and drained, which needs the right to patch them. Default false. */
  readonly nodeScheduling?: boolean;
  /** The namespace in which backups are booted. Absent: that of their VM, or the one of new instances. */
  readonly proofNamespace?: string | undefined;
  /** Takes the pictures of proofs from the screens of their guests. Absent: proofs have none. */
  readonly takePicture?: TakePicture | undefined;
  /** Asked before each request that changes the cluster; one that it forbids fails with NOT_READY and is not sent. */
  readonly mayWrite?: WriteFence;
}

const NO_BACKUPS =
  "Checkpoints need KubeVirt's API backup.kubevirt.io, which this cluster does not serve: export the disk of the stopped VM.";
const NO_DISK_FILES = 'The service reads no files of disks in clusters: open the backup on a libvirt context.';
const NO_DISK_RESTORE =
  'The service does not restore single disks in clusters: restore the backup as a new VM, or on libvirt.';
const NO_INSTANT_RESTORE =
  'A VM of a cluster starts when its restore has ended: the service can not serve disks to KubeVirt.';
const NO_LIVE_DISKS = 'KubeVirt exports the disks of stopped VMs only, so a VM of a cluster moves cold.';
const BUILDS_NOT_ALLOWED =
  'The configuration does not allow builds in this cluster (diskBuilds): disks are built on the machine of the service.';
const SCHEDULING_NOT_ALLOWED =
  'The configuration does not allow the service to cordon the nodes of this cluster (nodeScheduling): use kubectl drain.';

const NO_CONTAINER_MOVES =
  'The volume of a container is a file system of its cluster: create the container there, and copy its data with its own tools.';

/** A container is a pod and a claim, so KubeVirt's operations on VMs do not apply. */
const CONTAINER_ABILITIES: readonly AbilityName[] = [
  'inventory',
  'containers',
  'containerLogs',
  'containerFiles',
  'consoles',
  'events',
  'metrics',
];

interface OpenedCluster {
  readonly context: string;
  readonly traits: BackendTraits;
  readonly abilities: { readonly [K in AbilityName]: Abilities[K] | UnavailableAbility };
  readonly inventory: KubeInventory;
  readonly discovery: ClusterDiscovery;
  release(): Promise<void>;
}

/** One Kubernetes cluster with KubeVirt. */
export class KubeBackend extends Backend {
  override readonly context: string;
  override readonly traits: BackendTraits;
  override readonly containerAbilities = CONTAINER_ABILITIES;

  private constructor(private readonly opened: OpenedCluster) {
    super();
    this.context = opened.context;
    this.traits = opened.traits;
  }

  /**
   * Sends no request and never fails. The inventory reports a cluster that can't be reached or a kubeconfig that is
   * invalid.
   */
  static open(options: KubeBackendOptions): KubeBackend {
    const {
      context,
      clock,
      log = SILENT_LOG,
      namespaces,
      defaultNamespace = KUBEVIRT_TRAITS.namespaces.default,
    } = options;
    const credentials = new KubeCredentials(options.kubeconfig, options.kubeContext);
    const reachability = new Reachability(versionProbe(new KubeConnection(context, credentials, clock)), clock);
    const api = new KubeApi(context, credentials, clock, { outage: reachability, mayWrite: options.mayWrite });
    const discovery = new ClusterDiscovery(api, clock);
    const unlisten = reachability.listen({
      lost: () => undefined,
      up: () => void discovery.refresh().catch(() => undefined),
    });
    const deps = { api, clock, reachability };
    const inventory = new KubeInventory({ ...deps, context, log, namespaces });
    const power = new KubePower(api);
    const clusterExports = new ClusterExports(deps);
    const exports = new KubeExport(api, discovery, clusterExports);
    const backupSource = new KubeBackupSource({ ...deps, discovery, log, namespaces, exports: clusterExports });
    const uploads = new ImageUploads({ api, clock, discovery, uploadProxy: options.uploadProxy });
    const handlers = options.handlerMetrics ? new HandlerMetrics({ api, discovery, clock }) : undefined;
    const hostResources = new KubeHostResources({ api, discovery, namespaces });
    const migration = new KubeMigration(deps, discovery);
    const containers = new KubeContainers(api, clock);
    const scope = { context, namespaces };
    const consoles = new KubeConsoles(api, clock, discovery);
    const bootProof = new KubeBootProof({
      ...deps,
      context,
      discovery,
      uploads,
      consoles,
      power,
      log,
      namespaces,
      defaultNamespace,
      proofNamespace: options.proofNamespace,
      takePicture: options.takePicture,
    });
    const abilities = {
      inventory,
      power,
      provisioning: new KubeProvisioning(deps, discovery, uploads, log),
      diskBuilds: options.diskBuilds
        ? new KubeDiskBuilds({ ...deps, discovery, options: options.diskBuilds })
        : new UnavailableAbility(BUILDS_NOT_ALLOWED),
      hardware: new KubeHardware({ api, discovery, clock, hostResources }),
      hostResources,
      diskMove: new KubeDiskMove({ api, discovery, clock, log }),
      migration,
      images: new KubeImages({
        ...deps,
        context,
        discovery,
        namespaces,
        uploads,
      }),
      snapshots: new KubeSnapshots(deps, discovery, power),
      cloning: new KubeCloning(deps, discovery),
      containers,
      containerLogs: new KubeContainerLogs(api, clock),
      containerFiles: new KubeContainerFiles(api, clock),
      containerTransfer: new UnavailableAbility(NO_CONTAINER_MOVES),
      consoles,
      events: new KubeEvents(api),
      metrics: new KubeMetrics({ api, context, namespaces, handlers, vmOfGuest: (uid) => inventory.vmOfGuest(uid) }),
      guestInfo: new KubeGuestInspection(api),
      guestControl: new UnavailableAbility(
        "KubeVirt passes no commands and passwords to a guest's agent: use the console or ssh.",
      ),
      guestPorts: new KubeGuestPorts(api),
      diskExport: exports,
      diskSource: new KubeDiskSource({ api, discovery, clock }, exports),
      backups: new UnavailableAbility(NO_BACKUPS),
      backupSource,
      bootProof,
      diskFiles: new UnavailableAbility(NO_DISK_FILES),
      diskRestore: new UnavailableAbility(NO_DISK_RESTORE),
      instantRestore: new UnavailableAbility(NO_INSTANT_RESTORE),
      liveDisks: new UnavailableAbility(NO_LIVE_DISKS),
      diskIngest: new KubeDiskIngest({ ...deps, discovery, uploads, exports }),
      cluster: new KubeClusterInventory(api, discovery, scope),
      nodeScheduling: options.nodeScheduling
        ? new KubeNodeScheduling({ ...deps, discovery, migration, containers, scope })
        : new UnavailableAbility(SCHEDULING_NOT_ALLOWED),
      diagnostics: new KubeDiagnostics(api, discovery, defaultNamespace, {
        handlers,
        schedulesNodes: options.nodeScheduling === true,
      }),
      twin: new KubeTwinSource({ api, clock, context, namespaces }),
    };
    const release = async (): Promise<void> => {
      await Promise.all([backupSource.close(), bootProof.close()]);
      unlisten();
      await reachability.idle();
      credentials.close();
    };
    const traits = { ...KUBEVIRT_TRAITS, namespaces: { default: defaultNamespace, isOnlyOne: false } };
    return new KubeBackend({ context, traits, abilities, inventory, discovery, release });
  }

  override ability<K extends AbilityName>(name: K): Abilities[K] | UnavailableAbility {
    const obstacle = obstacleTo(name, this.opened.discovery.latest, this.context);
    return obstacle === undefined ? this.opened.abilities[name] : new UnavailableAbility(obstacle);
  }

  override async close(): Promise<void> {
    await this.opened.inventory.close();
    await this.opened.release();
  }
}
