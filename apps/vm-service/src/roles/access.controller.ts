import { Controller, Get, Query } from '@nestjs/common';
import {
  anyCaller,
  everything,
  expectAllowed,
  explainAccess,
  type AccessAnswer,
  type AccessObject,
  type GroupsAsOf,
  type LiveRights,
} from '@headgate/access';
import { AccessQueryDto, AccessView, type AccessAnswerView } from '@headgate/api-contracts';
import { DomainError, foldName, formatRef, type Caller } from '@headgate/domain-contracts';
import { CallerIdentity } from '../identity/caller-identity.js';
import { InstanceAccess } from '../identity/instance-access.js';
import { answer, Describe } from '../platform/answers.decorator.js';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { Needs } from '../platform/needs.decorator.js';
import { presentRole } from './present-role.js';

const OF_OTHERS = everything('manage', { doing: 'Asking about the rights of others' });

/** Who may do what, and why. */
@Controller('api/ext/access')
export class AccessController {
  constructor(
    private readonly identity: CallerIdentity,
    private readonly instances: InstanceAccess,
  ) {}

  // Users may ask about themselves; the rights of others are for administrators.
  @Needs(anyCaller)
  @Get()
  @Describe(
    'What a user or a group may do with an instance, in a folder or everywhere, and which role decides it.',
    answer(200, AccessView),
  )
  explain(@Query() query: AccessQueryDto, @CurrentCaller() caller: Caller): AccessView {
    const { login, group, asOf, rights } = this.subjectOf(query, caller);
    const { object, text } = this.objectOf(query, caller);
    const answers = explainAccess(rights, this.identity.rights, login, object);
    return {
      ...(group === undefined ? { user: login } : { group }),
      object: text,
      ...(asOf && { groups: { names: [...asOf.groups], at: asOf.at, until: asOf.until } }),
      answers: answers.map(presentAnswer),
    };
  }

  /** @throws DomainError NOT_PERMITTED, INVALID_INPUT */
  private subjectOf(
    { user, group }: AccessQueryDto,
    caller: Caller,
  ): { login: string; group?: string; asOf?: GroupsAsOf; rights: LiveRights } {
    const { login, groups, token, grant } = caller;
    if (user !== undefined && group !== undefined)
      throw new DomainError('INVALID_INPUT', 'The query must have either user or group.');
    const isSelf = group === undefined && (user === undefined || foldName(user) === foldName(login));
    // A token is not its creator, and its own rights are in its settings.
    if (!isSelf || token !== undefined) expectAllowed(grant, OF_OTHERS);
    if (group !== undefined) return { login: '', group, rights: this.identity.rights.ofGroup(group) };
    if (isSelf && token === undefined) return { login, rights: this.identity.rights.of({ login, groups }) };
    const absent = user ?? login;
    const asOf = this.identity.groupsOfAbsent(absent);
    return { login: absent, ...(asOf && { asOf }), rights: this.identity.rightsOfAbsent(absent) };
  }

  /** @throws DomainError INVALID_INPUT, INSTANCE_NOT_FOUND for one that the caller may not read */
  private objectOf(query: AccessQueryDto, { grant }: Caller): { object: AccessObject; text: string } {
    const { kind = 'vm', ns, name, context, folder } = query;
    if ((ns === undefined) !== (name === undefined))
      throw new DomainError('INVALID_INPUT', 'The query must have both ns and name, or neither of them.');
    if (folder !== undefined && name !== undefined)
      throw new DomainError('INVALID_INPUT', 'The query must have either an instance or a folder.');
    if (folder !== undefined) return { object: { folder }, text: `folder/${folder}` };
    if (ns === undefined || name === undefined) return { object: { all: true }, text: '' };
    const where = { kind, namespace: ns, name, ...(context !== undefined && { context }) };
    const instance = this.instances.find(where, grant);
    return { object: { instance: this.instances.subjectOf(instance) }, text: formatRef(instance.ref) };
  }
}

const presentAnswer = ({ action, allowed, reason, refusal }: AccessAnswer): AccessAnswerView => ({
  action,
  allowed,
  by: reason.by,
  ...(reason.by === 'role' && reason.role && { role: presentRole(reason.role) }),
  ...(refusal !== undefined && { refusal }),
});
