import { deepCopy, deepEqual, endOfJob, generateName, podSecurityRefusal, type Job } from '@headgate/kube-sandbox';
import { RESOURCES } from '../../resources.js';
import { setCondition, type Condition } from '../../types/condition.js';
import type { Pod } from '../../types/core-kinds.js';
import { controlledBy, isControlledBy, type SimulationContext } from '../../simulation-context.js';
import { Controller } from '../controller.js';

type JobStatus = NonNullable<Job['status']>;

const isOver = ({ status }: Pod): boolean => ['Succeeded', 'Failed'].includes(status?.phase ?? '');

/**
 * Runs the pods of Jobs until they complete, as kube-controller-manager does: with a backoff, a deadline, and a time to
 * live.
 */
export class JobController extends Controller<Job> {
  constructor(context: SimulationContext) {
    super(context, RESOURCES.job, 'job-controller');
  }

  protected override watchRelated(): void {
    this.watchOwned(RESOURCES.pod, 'Job');
  }

  protected override reconcile(job: Job): void {
    if (job.metadata.deletionTimestamp) return;
    if (endOfJob(job)) return this.expire(job);
    const { spec } = job;
    if (spec.suspend) return;
    const pods = this.podsOf(job);
    const active = pods.filter((pod) => !isOver(pod) && !pod.metadata.deletionTimestamp);
    const succeeded = pods.filter(({ status }) => status?.phase === 'Succeeded').length;
    const failed = pods.filter(({ status }) => status?.phase === 'Failed').length;
    const current = this.count(job, { active: active.length, succeeded, failed });
    // The change of the status reconciles it again.
    if (job.status?.startTime === undefined) return;
    if (failed > (spec.backoffLimit ?? 6))
      return this.fail(current, active, 'BackoffLimitExceeded', 'Job has reached the specified backoff limit');
    const { activeDeadlineSeconds } = spec;
    if (activeDeadlineSeconds !== undefined && this.took(job, 'deadline', activeDeadlineSeconds * 1000))
      return this.fail(current, active, 'DeadlineExceeded', 'Job was active longer than specified deadline');
    const completions = spec.completions ?? 1;
    if (succeeded >= completions) return this.complete(current);
    if (failed > 0 && !this.took(job, `backoff ${failed}`, this.context.timings.ms('jobBackoff') * 2 ** (failed - 1)))
      return;
    const missing = Math.min(spec.parallelism ?? 1, completions - succeeded) - active.length;
    for (let created = 0; created < missing; created++) if (!this.createPod(current)) return;
  }

  private podsOf(job: Job): Pod[] {
    const { namespace } = job.metadata;
    return this.context.store.list<Pod>(RESOURCES.pod, { namespace, where: (pod) => isControlledBy(pod, job) });
  }

  private count(job: Job, counts: Pick<JobStatus, 'active' | 'succeeded' | 'failed'>): Job {
    const { startTime, active = 0, succeeded = 0, failed = 0 } = job.status ?? {};
    if (startTime !== undefined && deepEqual(counts, { active, succeeded, failed })) return job;
    return this.change(job, (draft) => {
      draft.status = { ...draft.status, ...counts, startTime: startTime ?? this.now };
    });
  }

  /** @returns false when the cluster refuses the pod */
  private createPod(job: Job): boolean {
    const { metadata, spec } = job;
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        ...deepCopy(spec.template.metadata ?? {}),
        name: generateName(`${metadata.name}-`),
        namespace: metadata.namespace,
        ownerReferences: [controlledBy(job)],
      },
      spec: deepCopy(spec.template.spec),
      status: { phase: 'Pending' },
    } as unknown as Pod;
    const refusal = podSecurityRefusal(this.context.store, pod);
    if (refusal) {
      this.recordEvent(job, 'FailedCreate', `Error creating: ${refusal.message}`, { warning: true });
      this.enqueueAfter(job, this.context.timings.ms('jobCreateRetry'));
      return false;
    }
    this.context.store.create(RESOURCES.pod, pod);
    this.recordEvent(job, 'SuccessfulCreate', `Created pod: ${pod.metadata.name}`);
    return true;
  }

  private complete(job: Job): void {
    this.recordEvent(job, 'Completed', 'Job completed');
    const reason = 'CompletionsReached';
    const message = 'Reached expected number of succeeded pods';
    this.end(job, [
      { type: 'SuccessCriteriaMet', status: 'True', reason, message },
      { type: 'Complete', status: 'True', reason, message },
    ]);
  }

  private fail(job: Job, active: readonly Pod[], reason: string, message: string): void {
    for (const { metadata } of active) this.context.discard(RESOURCES.pod, metadata);
    this.recordEvent(job, reason, message, { warning: true });
    this.end(job, [
      { type: 'FailureTarget', status: 'True', reason, message },
      { type: 'Failed', status: 'True', reason, message },
    ]);
  }

  private end(job: Job, conditions: readonly Condition[]): void {
    this.change(job, (draft) => {
      const status = (draft.status ??= {});
      delete status.active;
      for (const condition of conditions) setCondition((status.conditions ??= []) as Condition[], condition, this.now);
      if (conditions.some(({ type }) => type === 'Complete')) status.completionTime = this.now;
    });
  }

  private expire(job: Job): void {
    const { ttlSecondsAfterFinished } = job.spec;
    if (ttlSecondsAfterFinished === undefined || !this.took(job, 'ttl', ttlSecondsAfterFinished * 1000)) return;
    this.context.discard(RESOURCES.job, job.metadata);
  }

  private get now(): string {
    return this.context.clock.timestamp();
  }
}
