import { DomainError, isScoped, type AccessAction, type AccessSubject, type Grant } from '@headgate/domain-contracts';
import { faultOf, type AllNeed, type FolderNeed, type InstanceNeed, type Need } from './need.js';

/**
 * The object of a request. Without any field, whichever it may be: then only those are allowed who may do it to all of
 * them.
 */
export interface Target {
  readonly instance?: AccessSubject;
  /** An instance by its ref. One that does not exist is allowed only to those who may do it to all instances. */
  readonly ref?: string;
  /** The path of a folder. */
  readonly folder?: string;
  /** Whether the body has the field of `also`, or one of those of `unless`; without it, it counts as if it had. */
  readonly hasField?: boolean;
  /** Whether the request only reads; without it, it counts as if it changed something. */
  readonly isRead?: boolean;
}

/**
 * Whether a grant satisfies a need. The only place that decides: routes, sockets, members of bulk tasks and of folders
 * ask it. An unknown need is allowed to no grant.
 */
export const may = (grant: Grant, need: Need, target: Target = {}): boolean =>
  refusalOf(grant, need, target) === undefined;

/** @throws DomainError NOT_PERMITTED */
export function expectAllowed(grant: Grant, need: Need, target: Target = {}): void {
  const refusal = refusalOf(grant, need, target);
  if (refusal !== undefined) throw new DomainError('NOT_PERMITTED', refusal);
}

/** Why a grant does not satisfy a need, as a sentence; undefined if it does. */
export function refusalOf(grant: Grant, need: Need, target: Target = {}): string | undefined {
  const fault = faultOf(need);
  if (fault !== undefined) return `Nothing is allowed here: ${fault}.`;
  const refused = refusedPart(grant, need, target);
  if (refused === undefined) return undefined;
  const [action, object] = refused;
  if (need.of === 'agent') return 'Only API tokens with a leash can do this.';
  if (grant.kind === 'agent' && action !== 'read')
    return `${grant.label} has a leash: it has to rehearse and commit each change.`;
  if (isScoped(grant)) return `${grant.label} has no right to ${VERBS[action]} ${object}.`;
  const doing = 'doing' in need && need.doing !== undefined ? need.doing : 'Changing anything';
  return `${doing} is for administrators; ${grant.label} is not one.`;
}

type Refused = readonly [action: AccessAction, object: string];

/** The first action of a need that a grant does not allow, and its object in words. */
function refusedPart(grant: Grant, need: Need, target: Target): Refused | undefined {
  switch (need.of) {
    case 'anyone':
    case 'visitor':
    case 'caller':
    case 'visible':
      return undefined;
    case 'agent':
      return grant.kind === 'agent' ? undefined : ['change', 'anything'];
    case 'own':
      return grant.kind === 'agent' && target.isRead !== true ? ['change', 'objects of its creator'] : undefined;
    case 'shared':
      return grant.readsShared ? undefined : ['read', 'data that belongs to no instance'];
    case 'members':
      // A reader may change no instance at all, so the request is not even looked at.
      if (grant.kind === 'agent') return ['power', 'instances'];
      return isScoped(grant) || grant.allowsAll('power') ? undefined : ['power', 'instances'];
    case 'all':
      if (isEnoughInFolder(grant, need, target)) return undefined;
      if (!grant.allowsAll(need.action)) return [need.action, need.action === 'manage' ? 'the service' : 'everything'];
      return need.folder && target.folder !== undefined ? refusedOfFolder(grant, need.folder, target) : undefined;
    case 'instance':
      return refusedOfInstance(grant, need, target);
    case 'folder':
      return refusedOfFolder(grant, need, target);
  }
}

/** Whether a role in the folder of the request is enough. A token that may create still has no right to its members. */
const isEnoughInFolder = (grant: Grant, { action, folder }: AllNeed, target: Target): boolean =>
  grant.kind === 'role' &&
  folder?.unless !== undefined &&
  target.folder !== undefined &&
  target.hasField === false &&
  grant.allowsFolder(action, target.folder);

function refusedOfInstance(grant: Grant, { action, also }: InstanceNeed, target: Target): Refused | undefined {
  if (!allowsOn(grant, action, target)) return [action, nameOf(target)];
  const isNeeded = also !== undefined && (also.field === undefined || target.hasField !== false);
  if (!isNeeded || grant.allowsAll(also.action)) return undefined;
  return [also.action, also.field === undefined ? 'everything' : `another ${also.field}`];
}

function refusedOfFolder(grant: Grant, { action }: Pick<FolderNeed, 'action'>, target: Target): Refused | undefined {
  if (target.folder === undefined) return allowsOn(grant, action, target) ? undefined : [action, nameOf(target)];
  return grant.allowsFolder(action, target.folder) ? undefined : [action, `the folder ${target.folder}`];
}

function allowsOn(grant: Grant, action: AccessAction, { instance, ref }: Target): boolean {
  if (instance) return grant.allows(action, instance);
  return ref === undefined ? grant.allowsAll(action) : grant.allowsRef(action, ref);
}

const nameOf = ({ instance, ref }: Target): string => instance?.instance.ref.name ?? ref ?? 'everything';

const VERBS: Readonly<Record<AccessAction, string>> = {
  read: 'read',
  watch: 'open the console of',
  console: 'type into the console of',
  ports: 'connect to ports of',
  power: 'start or stop',
  change: 'change',
  guest: 'control the guest of',
  create: 'create instances in',
  delete: 'delete',
  export: 'export the disk of',
  secrets: 'read the secrets of',
  manage: 'manage',
};
