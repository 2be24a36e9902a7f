import type { ObjectKey } from '@headgate/kube-sandbox';
import { suffers } from '../../inherited-faults.js';
import { RESOURCES } from '../../resources.js';
import { setCondition } from '../../types/condition.js';
import type { Node, PersistentVolumeClaim, Pod } from '../../types/core-kinds.js';
import type { SimulationContext } from '../../simulation-context.js';
import { Controller } from '../controller.js';
import { selectNode } from '../../storage-classes/select-node.js';
import { chooseNode } from './node-choice.js';
import { freesNode } from '../../pods/node-load.js';
import { badImage, containerStatus, setRunning, setWaiting } from './pod-status.js';

const SCHEDULER = { component: 'default-scheduler' };
const KUBELET = { component: 'kubelet' };

/** The scheduler and the kubelets: pods are placed, pull their images, run and end. */
export class PodController extends Controller<Pod> {
  private readonly unscheduled = new Map<string, ObjectKey>();
  /** Pods that wait for a Secret, by uid. */
  private readonly unmounted = new Map<string, ObjectKey>();

  constructor(context: SimulationContext) {
    super(context, RESOURCES.pod, 'kubelet');
  }

  protected override watchRelated(): void {
    this.index<Pod>(RESOURCES.pod, ({ type, object, previous }) =>
      this.context.consumers.note(previous, type === 'DELETED' ? undefined : object),
    );
    this.watch<Pod>(RESOURCES.pod, ({ type, object, previous }) => {
      const after = type === 'DELETED' ? undefined : object;
      this.context.loads.note(previous, after);
      if (type === 'DELETED') {
        this.unscheduled.delete(object.metadata.uid!);
        this.unmounted.delete(object.metadata.uid!);
      }
      if (freesNode(previous, after)) this.retryUnscheduled();
    });
    this.watch(RESOURCES.node, () => this.retryUnscheduled());
    this.watch(RESOURCES.secret, () => {
      for (const key of this.unmounted.values()) this.enqueue(key);
    });
    this.watchFaults(() => this.retryUnscheduled());
    this.watch<PersistentVolumeClaim>(RESOURCES.claim, ({ object }) => {
      for (const key of this.context.consumers.of(object)) this.enqueue(key);
    });
  }

  protected override reconcile(pod: Pod): void {
    if (pod.metadata.deletionTimestamp) return this.end(pod);
    if (['Succeeded', 'Failed'].includes(pod.status?.phase ?? '')) return;
    if (!pod.spec.nodeName) return this.schedule(pod);
    if (pod.status?.phase === 'Running') return this.startEphemeral(pod);
    this.startUp(pod);
  }

  private schedule(pod: Pod): void {
    if (!this.took(pod, 'schedule', 'podScheduled')) return;
    const claims = this.claimsOf(pod);
    const missing = claims.find(({ claim }) => !claim)?.name;
    if (missing) return this.refuse(pod, `persistentvolumeclaim "${missing}" not found`);
    const { node, message } = chooseNode(this.context, pod);
    if (!node) return this.refuse(pod, message);
    const unbound = claims.filter(({ claim }) => claim!.status?.phase !== 'Bound');
    if (unbound.length > 0) {
      for (const { claim } of unbound) selectNode(this.context, claim!, node.metadata.name);
      return;
    }
    this.unscheduled.delete(pod.metadata.uid!);
    const name = node.metadata.name;
    this.recordEvent(
      pod,
      'Scheduled',
      `Successfully assigned ${pod.metadata.namespace}/${pod.metadata.name} to ${name}`,
      SCHEDULER,
    );
    this.change(pod, (draft) => {
      draft.spec.nodeName = name;
      draft.status = { ...draft.status, phase: 'Pending' };
      setCondition((draft.status.conditions ??= []), { type: 'PodScheduled', status: 'True' }, this.now);
      setWaiting(draft, this.firstReason(pod), undefined, this.now, Boolean(pod.spec.initContainers?.length));
    });
  }

  private firstReason({ spec }: Pod): string {
    return spec.initContainers?.length ? 'PodInitializing' : 'ContainerCreating';
  }

  private refuse(pod: Pod, message: string): void {
    this.unscheduled.set(pod.metadata.uid!, pod.metadata);
    const before = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message;
    if (before === message) return;
    this.recordEvent(pod, 'FailedScheduling', message, { ...SCHEDULER, warning: true });
    this.change(pod, (draft) => {
      const status = (draft.status ??= {});
      status.phase = 'Pending';
      setCondition(
        (status.conditions ??= []),
        { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message },
        this.now,
      );
    });
  }

  private claimsOf({ spec, metadata }: Pod) {
    return (spec.volumes ?? []).flatMap(({ persistentVolumeClaim }) => {
      const name = persistentVolumeClaim?.claimName;
      if (!name) return [];
      return [{ name, claim: this.context.find<PersistentVolumeClaim>(RESOURCES.claim, metadata.namespace, name) }];
    });
  }

  private startUp(pod: Pod): void {
    if (this.claimsOf(pod).some(({ claim }) => claim?.status?.phase !== 'Bound')) return;
    if (!pod.status?.containerStatuses) {
      this.change(pod, (draft) => {
        setCondition(((draft.status ??= {}).conditions ??= []), { type: 'PodScheduled', status: 'True' }, this.now);
        setWaiting(draft, this.firstReason(pod), undefined, this.now);
      });
      return;
    }
    if (!this.mountsSecrets(pod)) return;
    if (!this.took(pod, 'pull', 'podImagePull')) return;
    const image = badImage(pod, suffers(this.context, 'image-pull', pod));
    if (image) return this.failPull(pod, image);
    if (!this.took(pod, 'start', 'podStart')) return;
    const host = pod.spec.nodeName!;
    const node = this.context.find<Node>(RESOURCES.node, undefined, host);
    for (const container of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
      this.recordEvent(pod, 'Pulled', `Successfully pulled image "${container.image}"`, { ...KUBELET, host });
      this.recordEvent(pod, 'Created', `Created container: ${container.name}`, { ...KUBELET, host });
      this.recordEvent(pod, 'Started', `Started container ${container.name}`, { ...KUBELET, host });
    }
    const hostAddress = node?.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? '192.0.2.1';
    this.change(pod, (draft) => setRunning(draft, this.context.nextAddress(), hostAddress, this.now));
  }

  /** The kubelet starts no container before all Secrets of its volumes exist. */
  private mountsSecrets(pod: Pod): boolean {
    const { namespace, uid = '' } = pod.metadata;
    const missing = (pod.spec.volumes ?? []).find(
      ({ secret }) =>
        secret?.secretName !== undefined &&
        !secret.optional &&
        !this.context.find(RESOURCES.secret, namespace, secret.secretName),
    );
    if (!missing) return this.unmounted.delete(uid) || true;
    this.unmounted.set(uid, pod.metadata);
    if (this.first(pod, `mount ${missing.name}`))
      this.recordEvent(
        pod,
        'FailedMount',
        `MountVolume.SetUp failed for volume "${missing.name}" : secret "${missing.secret?.secretName}" not found`,
        { ...KUBELET, host: pod.spec.nodeName, warning: true },
      );
    return false;
  }

  private startEphemeral(pod: Pod): void {
    const { ephemeralContainers = [] } = pod.spec;
    if (ephemeralContainers.length === (pod.status?.ephemeralContainerStatuses?.length ?? 0)) return;
    const state = { running: { startedAt: this.now } };
    this.change(pod, (draft) => {
      const known = draft.status!.ephemeralContainerStatuses ?? [];
      draft.status!.ephemeralContainerStatuses = ephemeralContainers.map(
        (container) => known.find(({ name }) => name === container.name) ?? containerStatus(pod, container, state),
      );
    });
  }

  /** Alternates between ErrImagePull and ImagePullBackOff as long as the image is missing. */
  private failPull(pod: Pod, image: string): void {
    const present = pod.status?.containerStatuses?.[0]?.state.waiting?.reason;
    if (present === 'ErrImagePull' || present === 'ImagePullBackOff') {
      if (!this.took(pod, `after ${present}`, 'imagePullRetry')) return;
      this.restartStep(pod, `after ${present}`);
    }
    const reason = present === 'ErrImagePull' ? 'ImagePullBackOff' : 'ErrImagePull';
    const message =
      reason === 'ErrImagePull'
        ? `failed to pull and unpack image "${image}": failed to resolve reference "${image}": ${image}: not found`
        : `Back-off pulling image "${image}"`;
    const host = pod.spec.nodeName;
    if (reason === 'ErrImagePull')
      this.recordEvent(pod, 'Failed', `Failed to pull image "${image}": ${message}`, {
        ...KUBELET,
        host,
        warning: true,
      });
    else this.recordEvent(pod, 'BackOff', message, { ...KUBELET, host });
    this.change(pod, (draft) => setWaiting(draft, reason, message, this.now));
  }

  /** A deleted pod keeps running for a moment, while its containers handle the signal. */
  private end(pod: Pod): void {
    const graceMs = (pod.metadata.deletionGracePeriodSeconds ?? 0) * 1000;
    const running = pod.status?.phase === 'Running';
    if (running && this.first(pod, 'killing')) {
      const host = pod.spec.nodeName;
      for (const { name } of pod.spec.containers)
        this.recordEvent(pod, 'Killing', `Stopping container ${name}`, { ...KUBELET, host });
    }
    const launcher = pod.metadata.labels?.['kubevirt.io'] === 'virt-launcher';
    // The pod of a VM stays until its guest is off. Then the VMI's controller ends it.
    if (launcher && running && graceMs > 0) return;
    const stopMs = Math.min(graceMs, this.context.timings.ms('podStop'));
    if (running && !this.took(pod, 'stop', stopMs)) return;
    this.context.discard(RESOURCES.pod, pod.metadata, 0);
  }

  private retryUnscheduled(): void {
    for (const key of this.unscheduled.values()) this.enqueue(key);
  }

  private get now(): string {
    return this.context.clock.timestamp();
  }
}
