import {
  DomainError,
  InstanceMigration,
  ServiceShutdown,
  type InstanceRef,
  type BackgroundWork,
  type TaskReporter,
} from '@headgate/domain-contracts';
import { KubeApiError } from '../api/kube-api-error.js';
import { conditionOf, type KubeObject } from '../api/kube-object.js';
import { INSTANCES, MIGRATIONS, NODES, VIRTUAL_MACHINES } from '../api/resources.js';
import type { ClusterDiscovery } from '../discovery/cluster-discovery.js';
import { instanceNotFound } from '../instance-not-found.js';
import type { VmiObject } from '../inventory/vm-object.js';
import { LABEL } from '../labels.js';
import { followObject, type Following } from './follow-object.js';
import { chooseTarget, type NodeObject } from './migration-target.js';

interface MigrationObject extends KubeObject {
  readonly status?: {
    readonly phase?: string;
    readonly migrationState?: { readonly targetNode?: string; readonly failureReason?: string };
  };
}

/** How far a migration is when it enters a phase; KubeVirt tells nothing finer. */
const PROGRESS: Readonly<Record<string, number>> = {
  Pending: 0.05,
  Scheduling: 0.15,
  Scheduled: 0.25,
  PreparingTarget: 0.35,
  TargetReady: 0.5,
  Running: 0.6,
  Succeeded: 1,
};

/** Live migrations through VirtualMachineInstanceMigration objects. */
export class KubeMigration extends InstanceMigration {
  constructor(
    private readonly following: Following,
    private readonly discovery: ClusterDiscovery,
  ) {
    super();
  }

  override async migrate(ref: InstanceRef, targetNode?: string): Promise<BackgroundWork> {
    const vmi = await this.movable(ref);
    const selector = await this.selector(vmi, targetNode);
    const migration = await this.trigger(ref, selector);
    return (report) => this.watch(ref, migration, vmi.status?.nodeName ?? '', report);
  }

  /** @throws DomainError WRONG_STATE, BUSY: whatever KubeVirt would say only later, or with less of a reason */
  private async movable(ref: InstanceRef): Promise<VmiObject> {
    const { api } = this.following;
    const vmi = await api.find<VmiObject>(INSTANCES, ref);
    if (!vmi || vmi.status?.phase !== 'Running') {
      if (!vmi && !(await api.find(VIRTUAL_MACHINES, ref))) throw instanceNotFound(ref);
      throw new DomainError('WRONG_STATE', `${ref.name} does not run; only a running VM can be migrated.`);
    }
    const { conditions, migrationState } = vmi.status;
    const migratable = conditionOf(conditions, 'LiveMigratable');
    if (migratable?.status === 'False') {
      throw new DomainError(
        'WRONG_STATE',
        `${ref.name} can't be migrated: ${migratable.message ?? migratable.reason}.`,
      );
    }
    if (migrationState?.startTimestamp && !migrationState.completed && !migrationState.failed) {
      throw new DomainError('BUSY', `${ref.name} is being migrated already.`);
    }
    const pin = vmi.spec?.nodeSelector?.['kubernetes.io/hostname'];
    if (pin !== undefined) {
      throw new DomainError('WRONG_STATE', `${ref.name} was made for the node ${pin} and may run on no other.`);
    }
    return vmi;
  }

  private async selector(
    vmi: VmiObject,
    targetNode: string | undefined,
  ): Promise<Readonly<Record<string, string>> | undefined> {
    const nodes = await this.following.api.list<NodeObject>(NODES);
    const selector = chooseTarget(nodes, vmi.status?.nodeName ?? '', targetNode);
    const facts = await this.discovery.facts();
    if (facts.atLeast(1, 6)) return selector;
    if (targetNode === undefined) return undefined;
    throw new DomainError(
      'NOT_SUPPORTED',
      'Choosing the target node needs KubeVirt 1.6 or newer; leave it to the scheduler.',
    );
  }

  private async trigger(
    ref: InstanceRef,
    addedNodeSelector: Readonly<Record<string, string>> | undefined,
  ): Promise<KubeObject> {
    const { namespace, name } = ref;
    const metadata = { generateName: `migrate-${name}-`, namespace, labels: { [LABEL.vm]: name } };
    const spec = addedNodeSelector ? { vmiName: name, addedNodeSelector } : { vmiName: name };
    try {
      return await this.following.api.create(MIGRATIONS, { metadata, spec } as KubeObject);
    } catch (error) {
      if (!(error instanceof KubeApiError)) throw error;
      if (/in-flight migration detected/.test(error.answer.text)) {
        throw new DomainError('BUSY', `${name} is being migrated already.`, { cause: error });
      }
      if (/Cannot migrate VMI/.test(error.answer.text)) {
        throw new DomainError('WRONG_STATE', error.message, { cause: error });
      }
      throw error;
    }
  }

  private async watch(ref: InstanceRef, migration: KubeObject, source: string, report: TaskReporter): Promise<void> {
    const { api } = this.following;
    const path = { namespace: ref.namespace, name: migration.metadata.name };
    let phase = '';
    const seen = ({ status }: MigrationObject): boolean => {
      const next = status?.phase ?? '';
      if (next !== phase && next !== '') {
        phase = next;
        report.step(next);
        report.log(
          `${ref.name}: ${next}${next === 'Succeeded' ? ` on ${status?.migrationState?.targetNode ?? 'the target'}` : ''}`,
        );
        if (PROGRESS[next] !== undefined) report.progress(PROGRESS[next]);
      }
      if (next === 'Failed') throw migrationFailed(ref, status?.migrationState?.failureReason);
      return next === 'Succeeded';
    };
    // KubeVirt keeps only the newest finished migrations: one that is gone is judged by where the guest runs.
    const gone = async (): Promise<boolean> => {
      const vmi = await api.find<VmiObject>(INSTANCES, ref);
      const node = vmi?.status?.nodeName;
      if (node !== undefined && node !== source) return true;
      throw migrationFailed(ref, 'the migration was cancelled');
    };
    try {
      await followObject<MigrationObject>(this.following, MIGRATIONS, migration, report.signal, seen, gone);
    } catch (error) {
      // Cancelling is safe: the guest stays where it is. A service that ends cancels nothing: the cluster goes on.
      const { aborted, reason } = report.signal;
      if (aborted && !(reason instanceof ServiceShutdown)) await api.delete(MIGRATIONS, path);
      throw error;
    }
  }
}

const migrationFailed = ({ name }: InstanceRef, reason: string | undefined): DomainError =>
  new DomainError('BACKEND_FAILED', `The migration of ${name} failed: ${reason || 'KubeVirt gave no reason'}.`);
