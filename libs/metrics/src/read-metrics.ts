import {
  DomainError,
  type BackendDirectory,
  type InstanceDirectory,
  type InstanceQuery,
  type InstanceRef,
} from '@headgate/domain-contracts';
import { isAway, type MetricsSampler } from './metrics-sampler.js';
import type { Sample } from './usage.js';

export interface LiveMetrics {
  /** Absent while the instance is not running, and before it was measured. */
  readonly sample?: Sample;
  /** Why its context has no values, in one sentence. */
  readonly reason?: string;
}

/** Answers from the samples in memory and never asks a backend. */
export class ReadMetrics {
  constructor(
    private readonly directory: InstanceDirectory,
    private readonly backends: BackendDirectory,
    private readonly sampler: MetricsSampler,
  ) {}

  /**
   * @throws DomainError INSTANCE_NOT_FOUND, or BACKEND_UNREACHABLE while the context of the instance does not answer
   */
  live(query: InstanceQuery): LiveMetrics {
    const instance = this.directory.resolve(query);
    const problem = this.problem(instance.ref);
    if (problem && isAway(problem)) throw problem;
    return problem ? { reason: problem.message } : { sample: this.sampler.latest(instance) };
  }

  /**
   * The last hour, oldest first; empty for a context whose usage is not measured.
   * @throws DomainError INSTANCE_NOT_FOUND
   */
  history(query: InstanceQuery): readonly Sample[] {
    return this.sampler.history(this.directory.resolve(query));
  }

  /** Why a context is not measured: it is lost by now, or its last reading failed. */
  private problem({ kind, context }: InstanceRef): DomainError | undefined {
    try {
      this.backends.get(context).requireFor(kind, 'metrics');
      return this.sampler.problem(context);
    } catch (error) {
      if (error instanceof DomainError) return error;
      throw error;
    }
  }
}
