import { byRoleAge, DomainError, roleKey, RoleStore, type RoleAssignment } from '@headgate/domain-contracts';

/** RoleStore in memory, which several replicas may share. */
export class MemoryRoleStore extends RoleStore {
  private readonly assignments = new Map<string, RoleAssignment>();
  private readonly keys = new Map<string, string>();
  private readonly listeners = new Set<() => void>();
  /** How often all assignments were read. */
  reads = 0;

  override all(): readonly RoleAssignment[] {
    this.reads++;
    return [...this.assignments.values()].map((one) => structuredClone(one)).sort(byRoleAge);
  }

  override async add(assignment: RoleAssignment): Promise<void> {
    const key = roleKey(assignment);
    if (this.keys.has(key)) throw new DomainError('ALREADY_EXISTS', 'This user or group has a role there already.');
    this.assignments.set(assignment.id, structuredClone(assignment));
    this.keys.set(key, assignment.id);
    this.report();
  }

  override async replace(assignment: RoleAssignment): Promise<boolean> {
    const stored = this.assignments.get(assignment.id);
    if (stored?.version !== assignment.version - 1) return false;
    this.assignments.set(assignment.id, structuredClone(assignment));
    this.report();
    return true;
  }

  override async delete(id: string): Promise<boolean> {
    const stored = this.assignments.get(id);
    if (stored) this.keys.delete(roleKey(stored));
    const existed = this.assignments.delete(id);
    if (existed) this.report();
    return existed;
  }

  override subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  private report(): void {
    for (const listener of [...this.listeners]) listener();
  }
}
