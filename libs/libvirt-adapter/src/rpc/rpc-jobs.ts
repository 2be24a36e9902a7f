import { DomainError } from '@headgate/domain-contracts';
import { domainOf, procedures, type TypedValue } from '@headgate/libvirt-rpc';
import { JobOperations, type DomainJob, type EndedJob } from '../connection/job-operations.js';
import type { RpcLink } from './rpc-link.js';

/** `VIR_DOMAIN_JOB_NONE`. */
const NO_JOB = 0;
/** `virDomainGetJobStatsFlags`: the last job that has ended, which stays available. */
const COMPLETED = 1;
const KEEP_COMPLETED = 2;

export class RpcJobs extends JobOperations {
  constructor(private readonly link: RpcLink) {
    super();
  }

  override async current(uuid: string): Promise<DomainJob | undefined> {
    const stats = await this.stats(uuid, 0);
    if (!stats) return undefined;
    const [total, remaining] = [stats.get('data_total'), stats.get('data_remaining')];
    const isKnown = typeof total === 'number' && typeof remaining === 'number' && total > 0;
    return { fraction: isKnown ? Math.min(1, Math.max(0, 1 - remaining / total)) : null };
  }

  override async last(uuid: string): Promise<EndedJob | undefined> {
    const stats = await this.stats(uuid, COMPLETED | KEEP_COMPLETED);
    if (!stats) return undefined;
    const figure = <K extends keyof EndedJob>(key: K, field: string): { readonly [_ in K]?: number } => {
      const value = stats.get(field);
      return typeof value === 'number' ? ({ [key]: value } as { readonly [_ in K]?: number }) : {};
    };
    return {
      ...figure('elapsedMs', 'time_elapsed'),
      ...figure('downtimeMs', 'downtime'),
      ...figure('memoryBytes', 'memory_processed'),
    };
  }

  override async abort(uuid: string): Promise<void> {
    try {
      await this.link.call(procedures.domainAbortJob, { domain: domainOf(uuid) });
    } catch (error) {
      if (!isWithoutJob(error)) throw error;
    }
  }

  private async stats(uuid: string, flags: number): Promise<ReadonlyMap<string, TypedValue> | undefined> {
    try {
      const { type, stats } = await this.link.call(procedures.domainGetJobStats, { domain: domainOf(uuid), flags });
      return type === NO_JOB ? undefined : stats;
    } catch (error) {
      if (isWithoutJob(error)) return undefined;
      throw error;
    }
  }
}

/** The domain has no job, is not running, or is gone. */
const isWithoutJob = (error: unknown): boolean => DomainError.is(error, 'WRONG_STATE', 'INSTANCE_NOT_FOUND');
