import type { Instance } from '../model/instance.js';
import type { InstanceKind } from './instance-ref.js';

/** The actions that an API token may be created for. */
export const TOKEN_ACTIONS = ['read', 'console', 'power', 'change', 'guest', 'create', 'delete', 'export'] as const;
export type TokenAction = (typeof TOKEN_ACTIONS)[number];

/**
 * Everything that a grant decides about. `watch` is a view-only console, `secrets` the manifest with its secrets, and `manage` the
 * settings of the service itself, such as API tokens.
 */
export type AccessAction = TokenAction | 'watch' | 'secrets' | 'manage';

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

/** The limits of a caller. Whatever it does not allow is refused. */
export abstract class Grant {
  /** Whether an action on one instance is allowed. */
  abstract allows(action: AccessAction, subject: AccessSubject): boolean;

  /** The same for an instance of the fleet. One that does not exist, or is not known, is not allowed. @param ref as text */
  abstract allowsRef(action: AccessAction, ref: string): boolean;

  /** Whether an action is allowed on every instance that is in a folder, or will be. */
  abstract allowsFolder(action: AccessAction, path: string): boolean;

  /** Whether an action is allowed on every instance, including those that do not exist yet, and on the service itself. */
  abstract allowsAll(action: AccessAction): boolean;

  /** Whether data that belongs to no instance may be read, such as the nodes and the catalog. */
  abstract readonly readsShared: boolean;

  /** The limits in words, for refusals: "The API token ci-7". */
  abstract readonly label: string;
}
