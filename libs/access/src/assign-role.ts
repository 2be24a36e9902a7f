import { randomBytes } from 'node:crypto';
import {
  buildPlan,
  Change,
  DomainError,
  roleKey,
  type Caller,
  type Plan,
  type Role,
  type RoleAssignment,
  type RoleScope,
  type RoleSubject,
} from '@headgate/domain-contracts';
import { expectSubject, type RoleAdministration } from './role-administration.js';
import { scopeText, subjectText } from './roles.js';

export const MAX_ROLES = 10_000;

export interface AssignRoleRequest {
  readonly subject: RoleSubject;
  readonly role: Role;
  readonly scope: RoleScope;
}

/** Gives a user, or everyone in a group, a role. It holds at once. */
export class AssignRole extends Change<
  [request: AssignRoleRequest, caller: Caller],
  RoleAssignment,
  readonly [AssignRoleRequest, Caller]
> {
  constructor(private readonly administration: RoleAdministration) {
    super();
  }

  /** Checked when it is recorded, so that a refusal has an entry in the audit log. */
  protected override prepare(request: AssignRoleRequest, caller: Caller): readonly [AssignRoleRequest, Caller] {
    return [request, caller];
  }

  protected override async planPrepared([request, caller]: readonly [AssignRoleRequest, Caller]): Promise<Plan> {
    this.build(request, caller);
    const isFirst = !this.administration.deps.rights.roles.isEnabled;
    return buildPlan([{ name: 'assign role', detail: `${subjectText(request.subject)}: ${textOf(request)}` }], {
      warnings: isFirst ? ['Roles are off now. From this first one on, users without a role see nothing.'] : [],
    });
  }

  protected override async runPrepared(
    [request]: readonly [AssignRoleRequest, Caller],
    caller: Caller,
  ): Promise<RoleAssignment> {
    const { deps } = this.administration;
    return deps.audit.of(
      caller,
      'assign role',
      refOf(request.subject),
      () =>
        this.administration.inTurn(async () => {
          const assignment = this.build(request, caller);
          await deps.store.add(assignment);
          return assignment;
        }),
      ({ id }) => `${id}: ${textOf(request)}`,
    );
  }

  /** @throws DomainError INVALID_INPUT, FOLDER_NOT_FOUND, CONTEXT_NOT_FOUND, ALREADY_EXISTS, CONFLICT */
  private build({ subject, role, scope }: AssignRoleRequest, caller: Caller): RoleAssignment {
    const { administration } = this;
    const { store, clock } = administration.deps;
    expectSubject(subject);
    const assignment: RoleAssignment = {
      id: randomBytes(ID_BYTES).toString('hex'),
      subject,
      role,
      scope,
      place: administration.placeOf(scope),
      createdAt: clock.iso(),
      createdBy: caller.login,
      version: 1,
    };
    const present = store.all();
    const key = roleKey(assignment);
    const same = present.find((one) => roleKey(one) === key);
    if (same)
      throw new DomainError(
        'ALREADY_EXISTS',
        `${subjectText(subject)} is ${same.role} ${scopeText(scope)} already; change that role instead.`,
      );
    if (present.length >= MAX_ROLES)
      throw new DomainError('CONFLICT', `There are ${MAX_ROLES} roles already; use groups, or remove some.`);
    administration.expectManageable([...present, assignment], caller);
    return assignment;
  }
}

const ID_BYTES = 8;

export const refOf = (subject: RoleSubject): string =>
  'user' in subject ? `role/user/${subject.user}` : `role/group/${subject.group}`;

export const textOf = ({ role, scope }: { readonly role: Role; readonly scope: RoleScope }): string =>
  `${role} ${scopeText(scope)}`;
