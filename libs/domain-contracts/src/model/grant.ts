import type { Instance } from './instance.js';
import type { InstanceKind } from '../values/instance-ref.js';

/** The actions that an API token may be created for. */
export const TOKEN_ACTIONS = [
  'read',
  'console',
  'ports',
  'power',
  'change',
  'guest',
  'create',
  'delete',
  'export',
] as const;
export type TokenAction = (typeof TOKEN_ACTIONS)[number];

/**
 * Everything that a grant decides about. `ports` is a connection to a TCP port of a guest, `watch` a view-only console,
 * `secrets` the manifest with its secrets, and `manage` the settings of the service itself, such as API tokens.
 */
export const ACCESS_ACTIONS = [...TOKEN_ACTIONS, 'watch', 'secrets', 'manage'] as const;
export type AccessAction = (typeof ACCESS_ACTIONS)[number];

/**
 * `reader`: not on the allowlist of administrators. A token is also limited by the rights of its creator. `agent`: a
 * token with a leash.
 */
export type GrantKind = 'administrator' | 'reader' | 'token' | 'agent' | 'role';

/** An instance, as far as a grant judges it. An entry of the fleet is one. */
export interface AccessSubject {
  readonly instance: Instance;
  readonly folder?: string;
}

/** Chooses instances. Without any field, all of them. */
export interface AccessScope {
  readonly kind?: InstanceKind;
  /** Words that must all occur, as in the list. */
  readonly q?: string;
  readonly context?: string;
  /** This folder and those in it. */
  readonly folder?: string;
}

/** The rights of a caller. Whatever it does not allow is refused. */
export abstract class Grant {
  abstract readonly kind: GrantKind;

  /** Whether an action on one instance is allowed. */
  abstract allows(action: AccessAction, subject: AccessSubject): boolean;

  /**
   * The same for an instance of the fleet. One that does not exist, or is not known, is not allowed.
   * @param ref as text
   */
  abstract allowsRef(action: AccessAction, ref: string): boolean;

  /** Whether an action is allowed on every instance that is in a folder, or will be. */
  abstract allowsFolder(action: AccessAction, path: string): boolean;

  /**
   * Whether an action is allowed on every instance, including those that do not exist yet, and on the service itself.
   */
  abstract allowsAll(action: AccessAction): boolean;

  /** Whether data that belongs to no instance may be read, such as the nodes and the catalog. */
  abstract readonly readsShared: boolean;

  /** Who has the rights, in words, for refusals: "The API token ci-7". */
  abstract readonly label: string;

  /** Another text when the caller has other rights now. Changes of an API token itself are not in it. */
  get version(): string {
    return this.kind;
  }
}

/** Whether a grant chooses among instances. Those that it does not allow to read do not exist for its caller. */
export const isScoped = ({ kind }: Pick<Grant, 'kind'>): boolean =>
  kind === 'token' || kind === 'agent' || kind === 'role';

/** Allows the same actions on every instance, and on the service itself. */
export class UniformGrant extends Grant {
  private readonly actions: ReadonlySet<AccessAction>;

  constructor(
    readonly kind: GrantKind,
    readonly label: string,
    actions: readonly AccessAction[],
  ) {
    super();
    this.actions = new Set(actions);
  }

  override get readsShared(): boolean {
    return this.actions.has('read');
  }

  override allows(action: AccessAction): boolean {
    return this.actions.has(action);
  }

  override allowsRef(action: AccessAction): boolean {
    return this.actions.has(action);
  }

  override allowsFolder(action: AccessAction): boolean {
    return this.actions.has(action);
  }

  override allowsAll(action: AccessAction): boolean {
    return this.actions.has(action);
  }
}

/** Allows everything. */
export const ADMINISTRATOR: Grant = new UniformGrant('administrator', 'An administrator', ACCESS_ACTIONS);
