import { InstanceEvents, type InstanceEvent, type InstanceRef } from '@headgate/domain-contracts';
import { instanceNotFound } from '../api/kube-api-error.js';
import type { KubeApi } from '../api/kube-api.js';
import type { KubeObject } from '../api/kube-object.js';
import type { ClaimObject, GuestSpec, PodObject, VmiObject, VmObject } from '../api/object-types.js';
import { CLAIMS, EVENTS, PODS, VIRTUAL_MACHINES, VM_INSTANCES } from '../api/resources.js';
import { containerSelector } from '../labels.js';

/** A core/v1 Event, as far as it is read. `eventTime` replaces the timestamps in events of newer clients. */
interface EventObject extends KubeObject {
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly eventTime?: string | null;
  readonly firstTimestamp?: string | null;
  readonly lastTimestamp?: string | null;
  readonly series?: { readonly lastObservedTime?: string };
  readonly involvedObject?: { readonly kind?: string; readonly name?: string; readonly uid?: string };
}

/** An instance as its events are found: its parts, and when it was created. */
interface Subject {
  readonly parts: readonly Part[];
  readonly createdAt: string | undefined;
  /** The uid of an object of another owner that has the name of a part. */
  readonly foreign?: string | undefined;
}

/** An object of an instance that events are about. */
interface Part {
  readonly kinds: readonly string[];
  readonly name: string;
}

/** The objects of a VM that have its name. */
const OWN_KINDS = ['VirtualMachine', 'VirtualMachineInstance'];
const VOLUME_KINDS = ['DataVolume', 'PersistentVolumeClaim'];

/**
 * Events of the cluster about a VM, its guest, its pods and its volumes, or about the pods and the volume of a
 * container.
 */
export class KubeEvents extends InstanceEvents {
  constructor(private readonly api: KubeApi) {
    super();
  }

  override async recent(ref: InstanceRef, limit: number): Promise<readonly InstanceEvent[]> {
    const { parts, createdAt, foreign } = await (ref.kind === 'vm' ? this.vm(ref) : this.container(ref));
    const found = await Promise.all(parts.map((part) => this.eventsOf(ref.namespace, part)));
    // An earlier instance may have had the same name, and its events outlive it.
    const since = Date.parse(createdAt ?? '') || 0;
    return found
      .flat()
      .filter(({ involvedObject }) => foreign === undefined || involvedObject?.uid !== foreign)
      .map(presentEvent)
      .filter(({ time }) => Date.parse(time) >= since)
      .sort((a, b) => (a.time < b.time ? 1 : a.time > b.time ? -1 : 0))
      .slice(0, limit);
  }

  private async vm(ref: InstanceRef): Promise<Subject> {
    const [vm, vmi] = await Promise.all([
      this.api.find<VmObject>(VIRTUAL_MACHINES, ref),
      this.api.find<VmiObject>(VM_INSTANCES, ref),
    ]);
    if (!vm) throw instanceNotFound(ref);
    const parts = [
      { kinds: OWN_KINDS, name: ref.name },
      ...volumeNames(vm.spec?.template?.spec).map((name) => ({ kinds: VOLUME_KINDS, name })),
      ...(await this.podNames(ref, vmi)).map((name) => ({ kinds: ['Pod'], name })),
    ];
    return { parts, createdAt: vm.metadata.creationTimestamp };
  }

  /** The pods of a container have its name, one after the other. Another pod may take the name while it is stopped. */
  private async container(ref: InstanceRef): Promise<Subject> {
    const { namespace, name } = ref;
    const labelSelector = containerSelector(name);
    const [[claim], pod, [own]] = await Promise.all([
      this.api.list<ClaimObject>(CLAIMS, { namespace, labelSelector }),
      this.api.find<PodObject>(PODS, { namespace, name }),
      this.api.list<PodObject>(PODS, { namespace, labelSelector }),
    ]);
    if (!claim) throw instanceNotFound(ref);
    const { name: volume, creationTimestamp: createdAt } = claim.metadata;
    const parts = [
      { kinds: ['Pod'], name },
      ...(volume === undefined ? [] : [{ kinds: ['PersistentVolumeClaim'], name: volume }]),
    ];
    const isOwn = pod?.metadata.uid === own?.metadata.uid;
    return { parts, createdAt, foreign: isOwn ? undefined : pod?.metadata.uid };
  }

  private async eventsOf(namespace: string, { kinds, name }: Part): Promise<EventObject[]> {
    const events = await this.api.list<EventObject>(EVENTS, {
      namespace,
      fieldSelector: `involvedObject.name=${name}`,
    });
    return events.filter(({ involvedObject }) => kinds.includes(involvedObject?.kind ?? ''));
  }

  private async podNames({ namespace }: InstanceRef, vmi: VmiObject | undefined): Promise<string[]> {
    if (!vmi) return [];
    const labelSelector = `kubevirt.io/created-by=${vmi.metadata.uid}`;
    const pods = await this.api.list<KubeObject>(PODS, { namespace, labelSelector });
    return pods.flatMap(({ metadata }) => metadata.name ?? []);
  }
}

function volumeNames(spec: GuestSpec | undefined): string[] {
  const volumes = spec?.volumes ?? [];
  const names = volumes.map(
    ({ dataVolume, persistentVolumeClaim }) => dataVolume?.name ?? persistentVolumeClaim?.claimName,
  );
  return [...new Set(names.filter((name) => name !== undefined))];
}

function presentEvent(event: EventObject): InstanceEvent {
  const { type, reason = '', message = '', involvedObject, metadata } = event;
  const time = event.series?.lastObservedTime ?? event.lastTimestamp ?? event.eventTime ?? event.firstTimestamp;
  return {
    time: new Date(time ?? metadata.creationTimestamp ?? 0).toISOString(),
    type: type === 'Warning' ? 'Warning' : 'Normal',
    reason,
    object: `${involvedObject?.kind}/${involvedObject?.name}`,
    message,
  };
}
