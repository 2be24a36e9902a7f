import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { AssignRole, ChangeRole, everything, RemoveRole, Roles } from '@headgate/access';
import {
  AssignRoleDto,
  ChangeQuery,
  ChangeRoleDto,
  EmptyBody,
  RoleAssignmentView,
  RolePath,
  StatusView,
  type PlanView,
  type RoleSubjectDto,
} from '@headgate/api-contracts';
import { DomainError, type Caller, type RoleAssignment, type RoleSubject } from '@headgate/domain-contracts';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';
import { Needs } from '../platform/needs.decorator.js';
import { presentRole } from './present-role.js';

@Controller('api/ext/roles')
export class RolesController {
  constructor(
    private readonly roles: Roles,
    private readonly assignRole: AssignRole,
    private readonly changeRole: ChangeRole,
    private readonly removeRole: RemoveRole,
  ) {}

  @Needs(everything('manage', { doing: 'Reading the roles' }))
  @Get()
  @Describe(
    'The roles of users and groups, those of the configuration file first, for administrators.',
    answerList(200, RoleAssignmentView),
  )
  list(): RoleAssignmentView[] {
    return this.roles.all().map(presentRole);
  }

  @Needs(everything('manage'))
  @Post()
  @Describe('Assigns a role to a user or a group. It holds at once.', answer(201, RoleAssignmentView))
  assign(
    @Body() { subject, role, scope = {} }: AssignRoleDto,
    @CurrentCaller() caller: Caller,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<RoleAssignmentView | PlanView> {
    const { folder, context } = scope;
    if (folder !== undefined && context !== undefined)
      throw new DomainError('INVALID_INPUT', 'scope must have either a folder or a context, or neither of them.');
    const where = { ...(folder !== undefined && { folder }), ...(context !== undefined && { context }) };
    const assigned = { subject: subjectOf(subject), role, scope: where };
    return request.answer(query, this.assignRole, [assigned, caller], (assignment) => this.present(assignment));
  }

  @Needs(everything('manage'))
  @Patch(':id')
  @Describe(
    'Gives a user or group another role in the same place. Their streams and consoles are closed.',
    answer(200, RoleAssignmentView),
  )
  change(
    @Param() { id }: RolePath,
    @Body() { role, version }: ChangeRoleDto,
    @CurrentCaller() caller: Caller,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<RoleAssignmentView | PlanView> {
    return request.answer(query, this.changeRole, [id, { role, version }, caller], (assignment) =>
      this.present(assignment),
    );
  }

  @Needs(everything('manage'))
  @Delete(':id')
  @Describe('Takes a role away. Streams and consoles of those who had it are closed.', answer(200, StatusView))
  remove(
    @Param() { id }: RolePath,
    @Body() _body: EmptyBody,
    @CurrentCaller() caller: Caller,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<StatusView | PlanView> {
    return request.answer(query, this.removeRole, [id, caller], () => ({ status: 'removed' }));
  }

  private present(assignment: RoleAssignment): RoleAssignmentView {
    return presentRole(this.roles.hold(assignment));
  }
}

/** @throws DomainError INVALID_INPUT */
function subjectOf({ user, group }: RoleSubjectDto): RoleSubject {
  if ((user === undefined) === (group === undefined))
    throw new DomainError('INVALID_INPUT', 'subject must have either a user or a group.');
  return user === undefined ? { group: group ?? '' } : { user };
}
