import {
  buildPlan,
  DomainError,
  InstanceMigration,
  type InstanceRef,
  type OperationKey,
  type OperationState,
  type BackgroundWork,
  type Plan,
} from '@headgate/domain-contracts';
import { instanceNotFound, KubeApiError } from '../api/kube-api-error.js';
import type { KubeObject } from '../api/kube-object.js';
import { findOfOperation, operationAnnotations, operationName } from '../api/operation-objects.js';
import type { MigrationObject, VmiObject } from '../api/object-types.js';
import { MIGRATIONS, VIRTUAL_MACHINES, VM_INSTANCES } from '../api/resources.js';
import type { ClusterDiscovery } from '../discovery/cluster-discovery.js';
import { LABEL } from '../labels.js';
import type { WatchDeps } from '../watch/kind-watch.js';
import { findTarget } from './find-target.js';
import { failureOf, migrationFailed, MigrationFollower } from './follow-migration.js';
import { alreadyMigrating, expectMigratableGuest } from './migratable.js';
import { remedyOf } from './migration-target.js';

/** Live migrations through VirtualMachineInstanceMigration objects. */
export class KubeMigration extends InstanceMigration {
  constructor(
    private readonly deps: WatchDeps,
    private readonly discovery: ClusterDiscovery,
  ) {
    super();
  }

  override async plan(ref: InstanceRef, targetNode?: string): Promise<Plan> {
    const destination = targetNode ?? 'a node of the same CPU vendor';
    const steps = [{ name: 'migrate', detail: `Migrate ${ref.name} to ${destination}, while its guest runs.` }];
    try {
      const vmi = await this.expectMigratable(ref);
      await this.selectNodes(vmi, targetNode);
      return buildPlan(steps);
    } catch (error) {
      if (!DomainError.is(error, 'WRONG_STATE', 'BUSY', 'NODE_NOT_FOUND', 'NOT_SUPPORTED')) throw error;
      const remedy = remedyOf(error) ?? 'Choose another node, or migrate the VM later.';
      return buildPlan([], { refusals: [{ code: error.code, reason: error.message, remedy }] });
    }
  }

  override async migrate(ref: InstanceRef, targetNode?: string, key?: OperationKey): Promise<BackgroundWork> {
    const vmi = await this.expectMigratable(ref);
    const source = vmi.status?.nodeName ?? '';
    const selector = await this.selectNodes(vmi, targetNode);
    const migration = await this.createMigration(ref, selector, key);
    return (report) => new MigrationFollower(this.deps, { ref, migration, source, report }).follow();
  }

  /** KubeVirt keeps only the newest finished migrations: when this one is gone, the guest's node shows the outcome. */
  override async stateOf(ref: InstanceRef, key: OperationKey): Promise<OperationState> {
    const migration = await this.migrationOf(ref, key);
    const { phase } = migration?.status ?? {};
    if (phase === 'Succeeded') return { state: 'done' };
    if (migration && phase === 'Failed')
      return { state: 'failed', reason: migrationFailed(ref, await failureOf(this.deps.api, migration)).message };
    if (migration) return { state: 'running' };
    const vmi = await this.deps.api.find<VmiObject>(VM_INSTANCES, ref);
    const { nodeName, migrationState: last } = vmi?.status ?? {};
    const hasMoved = key.node !== undefined && nodeName !== undefined && nodeName !== key.node;
    return { state: hasMoved && last?.completed === true ? 'done' : 'absent' };
  }

  override async resume(ref: InstanceRef, key: OperationKey): Promise<BackgroundWork> {
    const migration = await this.migrationOf(ref, key);
    if (!migration) throw migrationFailed(ref, 'the migration was canceled');
    return (report) => new MigrationFollower(this.deps, { ref, migration, source: key.node ?? '', report }).follow();
  }

  override async discard(ref: InstanceRef, key: OperationKey): Promise<void> {
    const migration = await this.migrationOf(ref, key);
    if (!migration || ['Succeeded', 'Failed'].includes(migration.status?.phase ?? '')) return;
    const { name, uid } = migration.metadata;
    await this.deps.api.delete(MIGRATIONS, { namespace: ref.namespace, name }, { uid });
  }

  private migrationOf({ namespace, name }: InstanceRef, key: OperationKey): Promise<MigrationObject | undefined> {
    return findOfOperation<MigrationObject>(this.deps.api, MIGRATIONS, { namespace, prefix: `migrate-${name}`, key });
  }

  /** @throws DomainError WRONG_STATE, BUSY for problems that KubeVirt would report later, or less clearly */
  private async expectMigratable(ref: InstanceRef): Promise<VmiObject> {
    const { api } = this.deps;
    const vmi = await api.find<VmiObject>(VM_INSTANCES, ref);
    if (!vmi || vmi.status?.phase !== 'Running') {
      if (!vmi && !(await api.find(VIRTUAL_MACHINES, ref))) throw instanceNotFound(ref);
      throw new DomainError('WRONG_STATE', `${ref.name} is not running. Only a running VM can be migrated.`);
    }
    expectMigratableGuest(ref, vmi);
    return vmi;
  }

  private async selectNodes(
    vmi: VmiObject,
    targetNode: string | undefined,
  ): Promise<Readonly<Record<string, string>> | undefined> {
    const canChoose = (await this.discovery.facts()).isAtLeast(1, 6);
    if (!canChoose && targetNode !== undefined) {
      throw new DomainError(
        'NOT_SUPPORTED',
        'Choosing the target node needs KubeVirt 1.6 or newer; leave it to the scheduler.',
      );
    }
    const selector = await findTarget({ ...this.deps, discovery: this.discovery }, vmi, targetNode);
    return canChoose ? selector : undefined;
  }

  private async createMigration(
    ref: InstanceRef,
    addedNodeSelector: Readonly<Record<string, string>> | undefined,
    key: OperationKey | undefined,
  ): Promise<KubeObject> {
    const { namespace, name } = ref;
    const metadata = {
      name: operationName(`migrate-${name}`, key),
      namespace,
      labels: { [LABEL.vm]: name },
      ...operationAnnotations(key),
    };
    const spec = addedNodeSelector ? { vmiName: name, addedNodeSelector } : { vmiName: name };
    try {
      return await this.deps.api.create(MIGRATIONS, { metadata, spec } as KubeObject);
    } catch (error) {
      if (!(error instanceof KubeApiError)) throw error;
      if (/in-flight migration detected/.test(error.response.text)) throw alreadyMigrating(ref, error);
      if (/Cannot migrate VMI/.test(error.response.text)) {
        throw new DomainError('WRONG_STATE', error.message, { cause: error });
      }
      throw error;
    }
  }
}
