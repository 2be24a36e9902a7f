import { DomainError, messageOf, ServiceShutdown, type FollowedBuild } from '@headgate/domain-contracts';
import { conditionOf, isTrue } from '../api/kube-object.js';
import type { EventObject, JobObject, PodObject } from '../api/object-types.js';
import { EVENTS, JOBS, PODS } from '../api/resources.js';
import { followObject } from '../watch/follow-object.js';
import { KindWatch, type WatchDeps } from '../watch/kind-watch.js';
import { LABEL } from '../labels.js';
import { CONTAINER } from './build-objects.js';
import { PodLog } from './pod-log.js';

/** How long the cluster may take to create the pod before its events are read for the reason. */
const POD_LIMIT_MS = 5_000;
/** How long a pod may be unable to start before the build fails: it may still wait for a node or a volume. */
const PROBLEM_LIMIT_MS = 10 * 60_000;
/** Reasons for which a container will not start without a change of the request. */
const BAD_IMAGE = /^(ErrImagePull|ImagePullBackOff|InvalidImageName|ErrImageNeverPull)$/;
const NO_PROGRAM = /^(StartError|RunContainerError|CreateContainerError|ContainerCannotRun)$/;
/**
 * How long an image may be impossible to pull. The node repeats it, for a registry that is unreachable for a moment.
 */
const PULL_LIMIT_MS = 60_000;

/** Follows the Job of a build to its end, and passes on the output of its container. */
export class BuildFollower {
  private readonly stop = new AbortController();
  private readonly signal: AbortSignal;
  private readonly log: PodLog;
  private readonly cancels: (() => void)[] = [];
  private readonly deadlines = new Set<string>();
  private lastProblem = '';
  private hasPod = false;
  private container: PodObject | undefined;

  constructor(
    private readonly deps: WatchDeps,
    private readonly job: JobObject,
    private readonly report: FollowedBuild,
  ) {
    this.signal = AbortSignal.any([report.signal, this.stop.signal]);
    this.log = new PodLog(deps, report, this.signal);
  }

  /** @throws DomainError INVALID_SOURCE, BACKEND_FAILED */
  async follow(): Promise<void> {
    const pods = this.watchPods();
    this.after(POD_LIMIT_MS, () => void this.expectPod());
    try {
      await followObject<JobObject>({
        ...this.deps,
        resource: JOBS,
        object: this.job,
        signal: this.signal,
        onChange: ({ status }) => isTrue(status?.conditions, 'Complete') || isTrue(status?.conditions, 'Failed'),
        onRemoved: () => {
          throw new DomainError('BACKEND_FAILED', `The Job ${this.job.metadata.name} was deleted during the build.`);
        },
      });
      // A short build may end before its pod was seen.
      for (const pod of await this.pods()) this.onPod(pod);
      await this.log.finish();
    } catch (error) {
      throw this.report.signal.aborted ? (this.report.signal.reason as Error) : error;
    } finally {
      for (const cancel of this.cancels) cancel();
      this.stop.abort(new ServiceShutdown('The build is no longer followed.'));
      await pods.stop();
    }
    await this.expectComplete();
  }

  private async expectComplete(): Promise<void> {
    const { name, namespace } = this.job.metadata;
    const job = await this.deps.api.find<JobObject>(JOBS, { namespace, name });
    const failure = conditionOf(job?.status?.conditions, 'Failed');
    if (failure?.status !== 'True') return;
    if (failure.reason === 'DeadlineExceeded') throw this.failed('it took too long');
    throw this.termination() ?? this.failed(failure.message ?? 'the Job has failed');
  }

  private termination(): DomainError | undefined {
    const terminated = this.container?.status?.containerStatuses?.find(({ name }) => name === CONTAINER)?.state
      ?.terminated;
    const { message: podMessage } = this.container?.status ?? {};
    if (!terminated) return podMessage === undefined ? undefined : this.failed(podMessage);
    const { reason = '', exitCode, message } = terminated;
    if (NO_PROGRAM.test(reason))
      return this.failed(
        `the container can't be started, so the image is probably not bootable (${message ?? reason})`,
        'INVALID_SOURCE',
      );
    return this.failed(`status ${exitCode}: ${this.log.lastLine || (message ?? reason)}`);
  }

  private get selection(): { readonly namespace: string | undefined; readonly labelSelector: string } {
    const { namespace, labels } = this.job.metadata;
    return { namespace, labelSelector: `${LABEL.build}=${labels?.[LABEL.build]}` };
  }

  private pods(): Promise<PodObject[]> {
    return this.deps.api.list<PodObject>(PODS, this.selection);
  }

  private watchPods(): KindWatch<PodObject> {
    const sink = {
      upsert: (pod: PodObject) => this.onPod(pod),
      remove: () => undefined,
      keys: () => [],
    };
    return new KindWatch<PodObject>({ ...this.deps, ...this.selection, resource: PODS, sink }).start();
  }

  private onPod(pod: PodObject): void {
    this.hasPod = true;
    this.container = pod;
    const { phase = '', containerStatuses, conditions } = pod.status ?? {};
    const state = containerStatuses?.find(({ name }) => name === CONTAINER)?.state;
    if (state?.terminated || phase === 'Running') this.log.start(pod);
    const scheduled = conditionOf(conditions, 'PodScheduled');
    const { reason = '', message = '' } = state?.waiting ?? {};
    if (phase !== 'Pending') return;
    if (BAD_IMAGE.test(reason)) this.problem(`the image can't be pulled: ${message || reason}`, PULL_LIMIT_MS, 'image');
    else if (scheduled?.status === 'False')
      this.problem(`no node can run the pod: ${scheduled.message}`, PROBLEM_LIMIT_MS, 'node');
  }

  /** Logs a problem that may pass, and ends the build if it does not. */
  private problem(text: string, limitMs: number, kind: 'image' | 'node'): void {
    if (text !== this.lastProblem) this.report.log(`Waiting: ${text}`);
    this.lastProblem = text;
    if (this.deadlines.has(kind)) return;
    this.deadlines.add(kind);
    this.after(limitMs, () => {
      if (this.container?.status?.phase !== 'Pending') return;
      const code = kind === 'image' ? 'INVALID_SOURCE' : 'BACKEND_FAILED';
      this.stop.abort(this.failed(this.lastProblem, code));
    });
  }

  /** The cluster refuses pods of a Job in events only. */
  private async expectPod(): Promise<void> {
    if (this.hasPod || this.signal.aborted) return;
    try {
      const { namespace, uid } = this.job.metadata;
      const fieldSelector = `involvedObject.uid=${uid}`;
      const events = await this.deps.api.list<EventObject>(EVENTS, { namespace, fieldSelector, signal: this.signal });
      const refusal = events.findLast(({ reason }) => reason === 'FailedCreate');
      if (refusal) return this.stop.abort(this.failed(refusal.message ?? 'the cluster refuses its pod'));
    } catch (error) {
      if (!this.signal.aborted) this.report.log(`The events of the build can't be read: ${messageOf(error)}`);
    }
    this.after(POD_LIMIT_MS, () => void this.expectPod());
  }

  private after(ms: number, act: () => void): void {
    this.cancels.push(this.deps.clock.after(ms, act));
  }

  private failed(reason: string, code: 'BACKEND_FAILED' | 'INVALID_SOURCE' = 'BACKEND_FAILED'): DomainError {
    return new DomainError(code, `The build failed: ${reason.replace(/\.$/, '')}.`);
  }
}
