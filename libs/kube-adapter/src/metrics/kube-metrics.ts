import {
  DomainError,
  formatRef,
  ResourceMetrics,
  type InstanceReading,
  type InstanceRef,
  type NodeReading,
  type ResourceReadings,
  type VirtualMachine,
} from '@headgate/domain-contracts';
import type { KubeApi } from '../api/kube-api.js';
import type { KubeObject } from '../api/kube-object.js';
import { NODE_METRICS, POD_METRICS } from '../api/resources.js';
import { bytesOf, millicoresOf } from '../inventory/guest-size.js';
import { LABEL } from '../labels.js';
import { UNKNOWN_TRAFFIC } from './guest-traffic.js';
import type { HandlerMetrics } from './handler-metrics.js';

/** https://github.com/kubernetes/metrics: quantities by resource, `cpu` as a rate and `memory` as the working set. */
type UsageQuantities = Readonly<Record<string, string | undefined>>;

interface PodMetrics extends KubeObject {
  readonly containers?: readonly { readonly usage?: UsageQuantities }[];
}

interface NodeMetrics extends KubeObject {
  readonly usage?: UsageQuantities;
}

/** A VM, and the node on which its guest runs. */
export type MeasuredVm = Pick<VirtualMachine, 'ref' | 'node'>;

export interface KubeMetricsDeps {
  readonly api: Pick<KubeApi, 'list'>;
  readonly context: string;
  /** Absent: every namespace. */
  readonly namespaces?: readonly string[];
  /** The VM whose guest, a VirtualMachineInstance, has this uid. */
  readonly vmOfGuest: (uid: string) => MeasuredVm | undefined;
  /** Absent: disk and network are unknown. */
  readonly handlers?: Pick<HandlerMetrics, 'read'>;
}

const LAUNCHERS = 'kubevirt.io=virt-launcher';
const CONTAINERS = `${LABEL.kind}=ct`;
/** The uid of the VirtualMachineInstance. The labels with names may have been shortened, or set by the user. */
const CREATED_BY = 'kubevirt.io/created-by';

/**
 * The usage that metrics.k8s.io reports for the pods of VMs and containers, as `kubectl top` shows it. For a VM this
 * includes the emulator. The counters of disks and networks come from virt-handler, where the configuration allows it.
 */
export class KubeMetrics extends ResourceMetrics {
  constructor(private readonly deps: KubeMetricsDeps) {
    super();
  }

  override async read(): Promise<ResourceReadings> {
    const [launchers, containers, nodes] = await Promise.all([
      this.pods(LAUNCHERS),
      this.pods(CONTAINERS),
      this.nodes(),
    ]);
    const readings = new Map<string, InstanceReading>();
    const vms = new Map<string, MeasuredVm>();
    for (const pod of launchers) {
      const vm = this.vmOf(pod);
      if (vm) vms.set(formatRef(vm.ref), vm);
      keepBusiest(readings, vm?.ref, pod);
    }
    for (const pod of containers) keepBusiest(readings, this.containerOf(pod), pod);
    await this.addTraffic(readings, vms);
    return { instances: [...readings.values()], nodes };
  }

  /**
   * A VM that has just migrated may be in the answers of two handlers. The guest runs on the node that the inventory
   * has, so only that answer counts, whatever node its labels name.
   */
  private async addTraffic(
    readings: Map<string, InstanceReading>,
    vms: ReadonlyMap<string, MeasuredVm>,
  ): Promise<void> {
    const { handlers } = this.deps;
    if (!handlers) return;
    const nodes = [...vms.values()].flatMap(({ node }) => node ?? []);
    const traffic = await handlers.read(new Set(nodes));
    for (const [key, reading] of readings) {
      const vm = vms.get(key);
      const known = vm && traffic.get(vm.node ?? '')?.get(`${vm.ref.namespace}/${vm.ref.name}`);
      if (known) readings.set(key, { ...reading, ...known });
    }
  }

  private async pods(labelSelector: string): Promise<PodMetrics[]> {
    const scopes = this.deps.namespaces ?? [undefined];
    const list = (namespace: string | undefined): Promise<PodMetrics[]> =>
      this.deps.api.list<PodMetrics>(POD_METRICS, { namespace, labelSelector });
    return (await Promise.all(scopes.map(list))).flat();
  }

  /** Empty for an account that may read its own namespaces only. */
  private async nodes(): Promise<NodeReading[]> {
    try {
      return (await this.deps.api.list<NodeMetrics>(NODE_METRICS)).map(({ metadata, usage }) => ({
        name: metadata.name ?? '',
        cpuTimeMs: null,
        cpuMillicores: millicoresOf(usage?.['cpu']) ?? null,
        memoryUsedBytes: bytesOf(usage?.['memory']) ?? null,
      }));
    } catch (error) {
      if (DomainError.is(error, 'BACKEND_FORBIDDEN')) return [];
      throw error;
    }
  }

  private vmOf({ metadata }: PodMetrics): MeasuredVm | undefined {
    return this.deps.vmOfGuest(metadata.labels?.[CREATED_BY] ?? '');
  }

  /** The pod of a container has its name. */
  private containerOf({ metadata: { namespace = '', name = '', labels } }: PodMetrics): InstanceRef | undefined {
    return labels?.[LABEL.name] === name ? { kind: 'ct', context: this.deps.context, namespace, name } : undefined;
  }
}

/** A VM has two pods while it migrates. The guest runs in one of them, which uses more CPU. */
function keepBusiest(readings: Map<string, InstanceReading>, ref: InstanceRef | undefined, pod: PodMetrics): void {
  if (!ref) return;
  const key = formatRef(ref);
  const known = readings.get(key);
  const reading = podReading(ref, pod);
  if (!known || (reading.cpuMillicores ?? -1) > (known.cpuMillicores ?? -1)) readings.set(key, reading);
}

const podReading = (ref: InstanceRef, { containers }: PodMetrics): InstanceReading => ({
  ref,
  cpuTimeMs: null,
  cpuMillicores: sum(containers, 'cpu', millicoresOf),
  memoryUsedBytes: sum(containers, 'memory', bytesOf),
  memoryTotalBytes: null,
  ...UNKNOWN_TRAFFIC,
});

/** The sum over all containers; null if none has a valid value: one bad object must not hide the others. */
function sum(
  containers: PodMetrics['containers'],
  resource: string,
  parse: (quantity: string | undefined) => number | undefined,
): number | null {
  let total: number | null = null;
  for (const { usage } of containers ?? []) {
    const value = parse(usage?.[resource]);
    if (value !== undefined) total = (total ?? 0) + value;
  }
  return total;
}
