import { DomainError, ServiceShutdown, type InstanceRef, type TaskReporter } from '@headgate/domain-contracts';
import type { KubeApi } from '../api/kube-api.js';
import { isTrue, type KubeObject } from '../api/kube-object.js';
import type { MigrationObject, VmiObject } from '../api/object-types.js';
import { MIGRATIONS, VM_INSTANCES } from '../api/resources.js';
import { followObject } from '../watch/follow-object.js';
import type { WatchDeps } from '../watch/kind-watch.js';
import { mayLackNode, pastProblem, TargetPodWatch } from './target-pod.js';

/** The progress of a migration when it enters a phase. KubeVirt reports nothing finer. */
const PROGRESS_OF_PHASE: Readonly<Record<string, number>> = {
  Pending: 0.05,
  Scheduling: 0.15,
  Scheduled: 0.25,
  PreparingTarget: 0.35,
  TargetReady: 0.5,
  Running: 0.6,
  Succeeded: 1,
};
const CANCELED = 'the migration was canceled';

export interface FollowedMigration {
  readonly ref: InstanceRef;
  readonly migration: KubeObject;
  /** Name of the node that the guest leaves. */
  readonly source: string;
  readonly report: TaskReporter;
}

/** Follows one migration to its end, and reports its phases and what it waits for. */
export class MigrationFollower {
  private phase = '';
  private failed: MigrationObject | undefined;
  private readonly pod: TargetPodWatch;

  constructor(
    private readonly deps: WatchDeps,
    private readonly followed: FollowedMigration,
  ) {
    this.pod = new TargetPodWatch(deps, followed.migration, (problem) => this.onNodeProblem(problem));
  }

  /** @throws DomainError BACKEND_FAILED with the reason, or why the task was aborted */
  async follow(): Promise<void> {
    const { migration, report } = this.followed;
    const { api } = this.deps;
    report.waitsFor?.(this.end);
    try {
      await followObject<MigrationObject>({
        ...this.deps,
        resource: MIGRATIONS,
        object: migration,
        signal: report.signal,
        onChange: (changed) => this.onChange(changed),
        onRemoved: () => this.onRemoved(),
      });
    } catch (error) {
      // Canceling is safe: the guest stays on its node. When the service ends, the cluster completes the migration.
      if (report.signal.aborted && !(report.signal.reason instanceof ServiceShutdown)) {
        const { namespace, name } = migration.metadata;
        await api.delete(MIGRATIONS, { namespace, name });
      }
      throw error;
    } finally {
      await this.pod.stop();
    }
    if (this.failed) throw await this.failure(this.failed);
  }

  private async failure(migration: MigrationObject): Promise<DomainError> {
    const { ref } = this.followed;
    const { problem } = this.pod;
    if (problem !== undefined) return migrationFailed(ref, reasonOf(migration), problem);
    // The migration has failed, and a failure to read the events is not reported in its place.
    return migrationFailed(ref, await failureOf(this.deps.api, migration).catch(() => undefined));
  }

  private get end(): string {
    return `the VirtualMachineInstanceMigration ${this.followed.migration.metadata.name} to succeed`;
  }

  private onNodeProblem(problem: string | undefined): void {
    const { ref, report } = this.followed;
    report.waitsFor?.(problem === undefined ? this.end : `${this.end}: ${problem}`);
    if (problem !== undefined) report.log(`${ref.name}: ${problem}`);
  }

  private onChange(migration: MigrationObject): boolean {
    const { ref, report } = this.followed;
    const { status } = migration;
    const next = status?.phase ?? '';
    if (next !== this.phase && next !== '') {
      this.phase = next;
      report.step(next);
      const where = next === 'Succeeded' ? ` on ${status?.migrationState?.targetNode ?? 'the target'}` : '';
      report.log(`${ref.name}: ${next}${where}`);
      if (PROGRESS_OF_PHASE[next] !== undefined) report.progress(PROGRESS_OF_PHASE[next]);
    }
    if (next === 'Failed') this.failed = migration;
    else if (!mayLackNode(migration)) void this.pod.end();
    return next === 'Succeeded' || next === 'Failed';
  }

  /** KubeVirt keeps only the newest finished migrations. When this one is gone, the guest's node shows the outcome. */
  private async onRemoved(): Promise<boolean> {
    const { ref, source } = this.followed;
    const vmi = await this.deps.api.find<VmiObject>(VM_INSTANCES, ref);
    const node = vmi?.status?.nodeName;
    if (node !== undefined && node !== source) return true;
    throw migrationFailed(ref, CANCELED, this.pod.problem);
  }
}

/** Before the hand-over to the nodes, KubeVirt records no reason in the status. */
function reasonOf({ metadata, status }: MigrationObject): string | undefined {
  const isCanceled = metadata.deletionTimestamp !== undefined || isTrue(status?.conditions, 'migrationAbortRequested');
  return status?.migrationState?.failureReason || (isCanceled ? CANCELED : undefined);
}

/** Why a migration failed. Without a reason in its status, events may have one. */
export const failureOf = async (api: KubeApi, migration: MigrationObject): Promise<string | undefined> =>
  reasonOf(migration) ?? (await pastProblem(api, migration));

/** @param reasons those that are known, from the general one to the particular one */
export function migrationFailed({ name }: InstanceRef, ...reasons: readonly (string | undefined)[]): DomainError {
  const texts = reasons.flatMap((text) => (text ? [text.replace(/\.$/, '')] : []));
  const why = texts.join('; ') || 'KubeVirt gave no reason';
  return new DomainError('BACKEND_FAILED', `The migration of ${name} failed: ${why}.`);
}
