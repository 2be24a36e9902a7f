import { DomainError } from '@headgate/domain-contracts';
import { JobOperations, type DomainJob, type EndedJob } from '../connection/job-operations.js';
import type { Virsh } from './virsh.js';

export class VirshJobs extends JobOperations {
  constructor(private readonly virsh: Virsh) {
    super();
  }

  override async current(uuid: string): Promise<DomainJob | undefined> {
    try {
      const info = await this.virsh.run(['domjobinfo', uuid]);
      return /^Job type: +(?!None)\S/m.test(info) ? { fraction: null } : undefined;
    } catch (error) {
      if (isWithoutJob(error)) return undefined;
      throw error;
    }
  }

  /** Only migrations have figures, and virsh directs none. */
  override last(): Promise<EndedJob | undefined> {
    return Promise.resolve(undefined);
  }

  override async abort(uuid: string): Promise<void> {
    try {
      await this.virsh.run(['domjobabort', uuid]);
    } catch (error) {
      if (!isWithoutJob(error)) throw error;
    }
  }
}

/** The domain has no job, is not running, or is gone. */
const isWithoutJob = (error: unknown): boolean => DomainError.is(error, 'WRONG_STATE', 'INSTANCE_NOT_FOUND');
