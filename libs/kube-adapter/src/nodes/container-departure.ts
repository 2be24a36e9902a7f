import {
  DomainError,
  type BackgroundWork,
  type Clock,
  type InstanceRef,
  type OperationState,
} from '@headgate/domain-contracts';
import type { KubeApi } from '../api/kube-api.js';
import type { PodObject } from '../api/object-types.js';
import { PODS } from '../api/resources.js';
import type { KubeContainers } from '../containers/kube-containers.js';
import { containerSelector } from '../labels.js';

/** A pod that is scheduled reports it within a second. */
const POLL_MS = 500;
/** How long the scheduler and the storage may take until the container is on another node. */
const MAX_POLLS = 600;

/** Containers leave a node by being stopped and started again: their pods stay on the node that they were given. */
export class ContainerDeparture {
  constructor(
    private readonly api: KubeApi,
    private readonly clock: Clock,
    private readonly containers: KubeContainers,
  ) {}

  /** The pod of a container, if it has one. */
  async podOf({ namespace, name }: InstanceRef): Promise<PodObject | undefined> {
    const [pod] = await this.api.list<PodObject>(PODS, { namespace, labelSelector: containerSelector(name) });
    return pod;
  }

  async begin(ref: InstanceRef, node: string): Promise<BackgroundWork | undefined> {
    const pod = await this.podOf(ref);
    if (pod?.spec?.nodeName !== node) return undefined;
    await this.containers.stop(ref);
    return this.work(ref, node);
  }

  /** Between the stop and the start, the container has no pod. */
  async stateOf(ref: InstanceRef, node: string): Promise<OperationState> {
    const pod = await this.podOf(ref);
    if (!pod) return { state: 'running' };
    const { nodeName } = pod.spec ?? {};
    if (nodeName === node) return { state: pod.metadata.deletionTimestamp === undefined ? 'absent' : 'running' };
    return { state: nodeName !== undefined && pod.status?.phase === 'Running' ? 'done' : 'running' };
  }

  /** Starts the container, and waits until it runs on another node. */
  work(ref: InstanceRef, node: string): BackgroundWork {
    return async (report) => {
      report.step('Start it elsewhere');
      report.waitsFor?.(`the container ${ref.name} to run on another node`);
      await this.containers.start(ref);
      report.progress(0.5);
      for (let poll = 0; poll < MAX_POLLS; poll++) {
        report.signal.throwIfAborted();
        const { state } = await this.stateOf(ref, node);
        if (state === 'done') return report.progress(1);
        if (state === 'absent')
          throw new DomainError('BACKEND_FAILED', `${ref.name} was started on ${node} again: it is not cordoned.`);
        await this.clock.delay(POLL_MS);
      }
      throw new DomainError('BACKEND_TIMEOUT', `${ref.name} runs on no other node after ${this.limit} min.`);
    };
  }

  /** The container must not stay down because its drain was canceled. */
  async discard(ref: InstanceRef): Promise<void> {
    await this.containers.start(ref);
  }

  private get limit(): number {
    return (MAX_POLLS * POLL_MS) / 60_000;
  }
}
