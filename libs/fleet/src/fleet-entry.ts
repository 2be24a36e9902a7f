import type { BackendKindName, Holder, Instance } from '@headgate/domain-contracts';

/** An instance in the fleet. */
export interface FleetEntry {
  readonly instance: Instance;
  /** Whether the context is lost; the instance is then its last known state. */
  readonly stale: boolean;
  /** The path of the folder that it is in. */
  readonly folder?: string;
  /** The task that changes it or needs it unchanged. */
  readonly busy?: Required<Holder>;
}

/** The current state of one context. */
export interface ContextState {
  readonly context: string;
  readonly kind: BackendKindName;
  /**
   * `connecting` until it was listed, or found to be lost, for the first time. `detached` only in the last event of a
   * context: the fleet has no such context any more.
   */
  readonly state: 'connecting' | 'up' | 'lost' | 'detached';
  /** The reason why it is lost. */
  readonly reason?: string;
}

/** One change of the fleet. */
export type FleetEvent =
  | { readonly type: 'changed'; readonly entry: FleetEntry }
  /**
   * `isDetached`: the instance may go on, but its context is not part of the fleet any more, or leads to another place.
   */
  | { readonly type: 'removed'; readonly instance: Instance; readonly isDetached?: true }
  /** `isReplaced`: the backend of the context is about to be closed, and another one takes its place. */
  | { readonly type: 'status'; readonly state: ContextState; readonly isReplaced?: true };

export type FleetListener = (event: FleetEvent) => void;
