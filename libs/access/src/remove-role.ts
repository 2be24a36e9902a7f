import {
  buildPlan,
  Change,
  DomainError,
  type Caller,
  type Plan,
  type RoleAssignment,
} from '@headgate/domain-contracts';
import { refOf, textOf } from './assign-role.js';
import type { RoleAdministration } from './role-administration.js';
import { subjectText } from './roles.js';

interface Prepared {
  readonly assignment: RoleAssignment;
  readonly caller: Caller;
}

/** Takes a role away. Streams and consoles of those who had it are closed. */
export class RemoveRole extends Change<[id: string, caller: Caller], void, Prepared> {
  constructor(private readonly administration: RoleAdministration) {
    super();
  }

  /** @throws DomainError ROLE_NOT_FOUND; CONFLICT for one of the configuration */
  protected override prepare(id: string, caller: Caller): Prepared {
    return { assignment: this.administration.find(id), caller };
  }

  protected override async planPrepared({ assignment, caller }: Prepared): Promise<Plan> {
    this.expectRemovable(assignment, caller);
    const subject = subjectText(assignment.subject);
    return buildPlan([
      { name: 'remove role', detail: `${subject}: ${textOf(assignment)}` },
      { name: 'close connections', detail: `streams and consoles of ${subject}` },
    ]);
  }

  protected override async runPrepared({ assignment }: Prepared, caller: Caller): Promise<void> {
    const { store, audit } = this.administration.deps;
    await audit.of(
      caller,
      'remove role',
      refOf(assignment.subject),
      () =>
        this.administration.inTurn(async () => {
          this.expectRemovable(assignment, caller);
          if (!(await store.delete(assignment.id)))
            throw new DomainError('ROLE_NOT_FOUND', `There is no role ${assignment.id}.`);
        }),
      () => `${assignment.id}: ${textOf(assignment)}`,
    );
  }

  /** @throws DomainError CONFLICT */
  private expectRemovable({ id }: RoleAssignment, caller: Caller): void {
    const { administration } = this;
    administration.expectManageable(
      administration.deps.store.all().filter((one) => one.id !== id),
      caller,
    );
  }
}
