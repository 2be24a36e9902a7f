import {
  buildPlan,
  Change,
  DomainError,
  type Caller,
  type Plan,
  type Role,
  type RoleAssignment,
} from '@headgate/domain-contracts';
import { refOf, textOf } from './assign-role.js';
import type { RoleAdministration } from './role-administration.js';
import { subjectText } from './roles.js';

export interface RoleChange {
  readonly role: Role;
  /** Changes it only if it has this version. */
  readonly version?: number | undefined;
}

interface Prepared {
  readonly assignment: RoleAssignment;
  readonly change: RoleChange;
  readonly caller: Caller;
}

/** Gives an assignment another role. Its subject and its place stay. */
export class ChangeRole extends Change<[id: string, change: RoleChange, caller: Caller], RoleAssignment, Prepared> {
  constructor(private readonly administration: RoleAdministration) {
    super();
  }

  /** @throws DomainError ROLE_NOT_FOUND; CONFLICT for one of the configuration */
  protected override prepare(id: string, change: RoleChange, caller: Caller): Prepared {
    return { assignment: this.administration.find(id), change, caller };
  }

  protected override async planPrepared({ assignment, change, caller }: Prepared): Promise<Plan> {
    const next = this.build(assignment.id, change, caller);
    const subject = subjectText(assignment.subject);
    return buildPlan([
      { name: 'change role', detail: `${subject}: ${textOf(next)}, was ${assignment.role}` },
      { name: 'close connections', detail: `streams and consoles of ${subject}` },
    ]);
  }

  protected override async runPrepared({ assignment, change }: Prepared, caller: Caller): Promise<RoleAssignment> {
    const { store, audit } = this.administration.deps;
    return audit.of(
      caller,
      'change role',
      refOf(assignment.subject),
      () =>
        this.administration.inTurn(async () => {
          const next = this.build(assignment.id, change, caller);
          if (!(await store.replace(next))) throw changedMeanwhile();
          return next;
        }),
      (next) => `${next.id}: ${textOf(next)}, was ${assignment.role}`,
    );
  }

  /** @throws DomainError ROLE_NOT_FOUND, CONFLICT */
  private build(id: string, { role, version }: RoleChange, caller: Caller): RoleAssignment {
    const { administration } = this;
    const stored = administration.find(id);
    if (version !== undefined && version !== stored.version) throw changedMeanwhile();
    const next = { ...stored, role, version: stored.version + 1 };
    const others = administration.deps.store.all().filter((one) => one.id !== id);
    administration.expectManageable([...others, next], caller);
    return next;
  }
}

const changedMeanwhile = (): DomainError =>
  new DomainError('CONFLICT', 'The role was changed by another request meanwhile; read it again.');
