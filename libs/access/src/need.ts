import { ACCESS_ACTIONS, type AccessAction, type InstanceKind } from '@headgate/domain-contracts';

/** What a route, a socket or a member of a bulk task needs of its caller. */
export type Need =
  /** Nothing, not even an identity: probes. */
  | { readonly of: 'anyone' }
  /** Nothing while users log in here: the page and its login. Otherwise an identity. The edge is checked. */
  | { readonly of: 'visitor' }
  /** An identity. The response has no data of instances. */
  | { readonly of: 'caller' }
  /** A token with a leash. The route decides about its messages. */
  | { readonly of: 'agent' }
  /** Objects of the caller, such as their saved views. The route finds them by the login of the caller only. */
  | { readonly of: 'own' }
  /** Data that belongs to no instance, such as the nodes and the catalog. */
  | { readonly of: 'shared' }
  /** The route itself leaves out the instances that the caller may not read. */
  | { readonly of: 'visible' }
  /** Actions on instances that the request chooses. Each of them is judged on its own, by `expectMembersAllowed`. */
  | { readonly of: 'members' }
  | AllNeed
  | InstanceNeed
  | FolderNeed;

/** Every instance, and the service itself. */
export interface AllNeed {
  readonly of: 'all';
  readonly action: AccessAction;
  /** The subject of the refusal of a reader: "Reading the journal". */
  readonly doing?: string;
  /** In addition, an action in the folder at this field of the body, if it has a value. */
  readonly folder?: {
    readonly action: AccessAction;
    readonly field: string;
    /**
     * Then a role for the need's own action in the folder is enough, unless the body has a value in one of these
     * fields: they name objects that may be of anyone.
     */
    readonly unless?: readonly string[];
  };
}

/** One instance. */
export interface InstanceNeed {
  readonly of: 'instance';
  readonly action: AccessAction;
  /** The instance that the path names, or the field `ref` of the body. */
  readonly at: 'path' | 'ref';
  /** Without it, an instance of any kind. */
  readonly kind?: InstanceKind;
  /**
   * In addition, an action on everything; with `field`, only if the body has a value there, such as a volume that may
   * be of anyone.
   */
  readonly also?: { readonly action: AccessAction; readonly field?: string };
  /** The subject of the refusal of a reader. */
  readonly doing?: string;
}

/** The folders at these fields of the body, and with `ref` also the instance in its field `ref`. */
export interface FolderNeed {
  readonly of: 'folder';
  readonly action: AccessAction;
  readonly fields: readonly string[];
  readonly ref?: true;
}

type More = Pick<InstanceNeed, 'also' | 'doing'>;

export const anyone: Need = { of: 'anyone' };
export const anyVisitor: Need = { of: 'visitor' };
export const anyCaller: Need = { of: 'caller' };
export const anyAgent: Need = { of: 'agent' };
export const ownObjects: Need = { of: 'own' };
export const sharedData: Need = { of: 'shared' };
export const visibleInstances: Need = { of: 'visible' };
export const eachMember: Need = { of: 'members' };
export const everything = (action: AccessAction, more: Pick<AllNeed, 'doing' | 'folder'> = {}): AllNeed => ({
  of: 'all',
  action,
  ...more,
});
export const vm = (action: AccessAction, more: More = {}): InstanceNeed => ({
  of: 'instance',
  action,
  at: 'path',
  kind: 'vm',
  ...more,
});
export const ct = (action: AccessAction, more: More = {}): InstanceNeed => ({
  of: 'instance',
  action,
  at: 'path',
  kind: 'ct',
  ...more,
});
export const vmOrCt = (action: AccessAction, more: More = {}): InstanceNeed => ({
  of: 'instance',
  action,
  at: 'path',
  ...more,
});
export const refInBody = (action: AccessAction): InstanceNeed => ({ of: 'instance', action, at: 'ref' });
export const folders = (
  action: AccessAction,
  fields: readonly string[],
  more: Pick<FolderNeed, 'ref'> = {},
): FolderNeed => ({ of: 'folder', action, fields, ...more });

const KINDS: ReadonlySet<unknown> = new Set<Need['of']>([
  'anyone',
  'visitor',
  'caller',
  'agent',
  'own',
  'shared',
  'visible',
  'members',
  'all',
  'instance',
  'folder',
]);
const ACTIONS: ReadonlySet<unknown> = new Set(ACCESS_ACTIONS);

/** Why the policy can't decide about a need; undefined if it can. */
export function faultOf(need: Need): string | undefined {
  if (!KINDS.has(need.of)) return `there is no need of "${String(need.of)}"`;
  if (!('action' in need)) return undefined;
  const actions = [
    need.action,
    ...('also' in need && need.also ? [need.also.action] : []),
    ...('folder' in need && need.folder ? [need.folder.action] : []),
  ];
  const unknown = actions.find((action) => !ACTIONS.has(action));
  return unknown === undefined ? undefined : `there is no action "${unknown}"`;
}
