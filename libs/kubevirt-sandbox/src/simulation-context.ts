import type {
  AdmissionChain,
  EventRecorder,
  KubeObject,
  ObjectKey,
  ObjectStore,
  OwnerReference,
  ResourceRegistry,
  SandboxClock,
  SandboxContext,
  SubresourceRegistry,
} from '@headgate/kube-sandbox';
import type { OptionalPart } from './definitions/simulated-definitions.js';
import type { Faults } from './faults.js';
import { FeatureGates } from './feature-gates.js';
import type { GuestPortChooser } from './guests/simulated-ports.js';
import type { KubevirtRelease } from './kubevirt-version.js';
import { ContainerOutput } from './pods/container-output.js';
import type { ProgramChooser } from './pods/program.js';
import { ClaimConsumers } from './pods/claim-consumers.js';
import { NodeLoads } from './pods/node-load.js';
import { RESOURCES } from './resources.js';
import type { Timings } from './timings.js';
import type { VirtualMachine } from './types/virtual-machine.js';
import type { KubeVirt } from './types/kubevirt-kinds.js';

const FIRST_ADDRESS = 1;

export interface SimulationDeps extends SandboxContext {
  readonly release: KubevirtRelease;
  readonly timings: Timings;
  /** How long a token for the upload proxy is valid. */
  readonly uploadTokenMs: number;
  readonly faults: Faults;
  /** The components that this cluster does not have. */
  readonly without: ReadonlySet<OptionalPart>;
  readonly reportError: (error: unknown, key: string) => void;
}

/** The server, settings and indexes that all parts of the simulation share. */
export class SimulationContext implements SimulationDeps {
  readonly store: ObjectStore;
  readonly registry: ResourceRegistry;
  readonly clock: SandboxClock;
  readonly events: EventRecorder;
  readonly admission: AdmissionChain;
  readonly subresources: SubresourceRegistry;
  readonly release: KubevirtRelease;
  readonly timings: Timings;
  readonly uploadTokenMs: number;
  readonly faults: Faults;
  readonly without: ReadonlySet<OptionalPart>;
  readonly reportError: (error: unknown, key: string) => void;
  readonly loads = new NodeLoads();
  readonly consumers = new ClaimConsumers();
  readonly output: ContainerOutput;
  /** Programs of a test. */
  chooseProgram: ProgramChooser | undefined;
  /** What a test or an embedder puts behind the ports of guests. */
  chooseGuestPort: GuestPortChooser | undefined;
  /** The changes that a clone applies to the VM of its restore, by the uid of the restore. */
  readonly restoreAdjustments = new Map<string, (vm: VirtualMachine) => void>();
  private addresses = FIRST_ADDRESS;

  constructor(deps: SimulationDeps) {
    this.store = deps.store;
    this.registry = deps.registry;
    this.clock = deps.clock;
    this.events = deps.events;
    this.admission = deps.admission;
    this.subresources = deps.subresources;
    this.release = deps.release;
    this.timings = deps.timings;
    this.uploadTokenMs = deps.uploadTokenMs;
    this.faults = deps.faults;
    this.without = deps.without;
    this.reportError = deps.reportError;
    this.output = new ContainerOutput(deps.clock);
  }

  /** The KubeVirt resource, which holds the configuration. */
  get kubevirt(): KubeVirt | undefined {
    return this.store.get<KubeVirt>(RESOURCES.kubevirt, { namespace: 'kubevirt', name: 'kubevirt' });
  }

  get gates(): FeatureGates {
    const { featureGates = [], disabledFeatureGates = [] } =
      this.kubevirt?.spec.configuration?.developerConfiguration ?? {};
    return new FeatureGates(this.release, featureGates, disabledFeatureGates);
  }

  resourceOf(object: KubeObject): string {
    return this.registry.resourceOf(object);
  }

  find<T extends KubeObject>(resource: string, namespace: string | undefined, name: string): T | undefined {
    return this.store.get<T>(resource, { namespace, name });
  }

  /** Deletes an object that may already be gone. */
  discard(resource: string, key: ObjectKey, gracePeriodSeconds?: number): void {
    const found = this.store.get(resource, key);
    if (!found || (found.metadata.deletionTimestamp && gracePeriodSeconds === undefined)) return;
    this.store.delete(resource, key, gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds });
  }

  /** The next free address of the pod network 10.128.0.0/9. */
  nextAddress(): string {
    let number = this.addresses++;
    while ((number & 255) === 0 || (number & 255) === 255) number = this.addresses++;
    return `10.${128 + ((number >> 16) & 127)}.${(number >> 8) & 255}.${number & 255}`;
  }
}

/** An owner reference to the controller of an object. */
export function controlledBy({ apiVersion, kind, metadata }: KubeObject): OwnerReference {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid!, controller: true, blockOwnerDeletion: true };
}

export const isControlledBy = (object: KubeObject, owner: KubeObject): boolean =>
  object.metadata.ownerReferences?.some(({ uid, controller }) => controller === true && uid === owner.metadata.uid) ===
  true;
