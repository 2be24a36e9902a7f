import {
  byRoleAge,
  DomainError,
  roleKey,
  ROLES,
  RoleStore,
  SILENT_LOG,
  type Log,
  type Replicas,
  type RoleAssignment,
} from '@headgate/domain-contracts';
import { SERVICE_ROLES } from '../../api/resources.js';
import type { ClusterStore } from '../cluster-store.js';
import { hashedName } from '../hashed-name.js';
import { KeptFresh } from '../kept-fresh.js';
import { WatchedObjects, type StoredObject } from '../watched-objects.js';

export interface RoleSpec {
  readonly assignment: RoleAssignment;
}

/** A subject has one role in a place, because the API server creates a name once. */
const objectNameOf = (assignment: RoleAssignment): string => hashedName('role', roleKey(assignment));

function isAssignment({ assignment }: Partial<RoleSpec>): boolean {
  const { id, subject, role, scope, place, createdAt, createdBy, version } = assignment ?? {};
  const texts: readonly unknown[] = [id, place, createdAt, createdBy, scope?.folder ?? '', scope?.context ?? ''];
  const name = subject && ('user' in subject ? subject.user : subject.group);
  return (
    [...texts, name].every((text) => typeof text === 'string') &&
    typeof scope === 'object' &&
    ROLES.some((one) => one === role) &&
    Number.isInteger(version)
  );
}

/** RoleStore in custom resources of a cluster, one for each assignment. */
export class KubeRoleStore extends RoleStore {
  private readonly objects: WatchedObjects<RoleSpec>;
  private readonly fresh: KeptFresh<RoleSpec>;
  private readonly listeners = new Set<() => void>();

  constructor(store: ClusterStore, replicas: Replicas, log: Log = SILENT_LOG) {
    super();
    this.objects = new WatchedObjects(store, {
      resource: SERVICE_ROLES,
      subject: 'role',
      isComplete: isAssignment,
      onChange: () => this.report(),
      log,
    });
    this.fresh = new KeptFresh(this.objects, { clock: store.clock, replicas, onLost: () => this.report() });
  }

  /** @throws DomainError NOT_READY when the roles can't be used; they are left as they are */
  async open(): Promise<void> {
    await this.fresh.open();
    this.report();
  }

  /** Resolves when the last request has ended. */
  close(): Promise<void> {
    return this.fresh.close();
  }

  override all(): readonly RoleAssignment[] {
    return this.objects
      .all()
      .map(({ spec }) => structuredClone(spec.assignment))
      .sort(byRoleAge);
  }

  override async add(assignment: RoleAssignment): Promise<void> {
    await this.objects.put(objectNameOf(assignment), (stored) => {
      if (stored && stored.assignment.id !== assignment.id)
        throw new DomainError('ALREADY_EXISTS', 'This user or group has a role there already.');
      return { assignment };
    });
    this.report();
  }

  override async replace(assignment: RoleAssignment): Promise<boolean> {
    const object = this.find(assignment.id);
    if (!object) return false;
    let isSame = false;
    await this.objects.update(object.metadata.name ?? '', ({ assignment: stored }) => {
      isSame = stored.id === assignment.id && stored.version === assignment.version - 1;
      return isSame ? { assignment } : undefined;
    });
    if (isSame) this.report();
    return isSame;
  }

  override async delete(id: string): Promise<boolean> {
    const object = this.find(id);
    const existed = object ? await this.objects.delete(object) : false;
    if (existed) this.report();
    return existed;
  }

  override expectCurrent(): void {
    if (this.fresh.isCurrent) return;
    throw new DomainError(
      'NOT_READY',
      'This replica does not reach the store of the cluster, so it can not check roles; try again soon.',
    );
  }

  override subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  private find(id: string): StoredObject<RoleSpec> | undefined {
    return this.objects.all().find(({ spec }) => spec.assignment.id === id);
  }

  private report(): void {
    for (const listener of [...this.listeners]) listener();
  }
}
