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
  /** `connecting` until it was listed, or found to be lost, for the first time. */
  readonly state: 'connecting' | 'up' | 'lost';
  /** The reason why it is lost. */
  readonly reason?: string;
}

/** One change of the fleet. */
export type FleetEvent =
  | { readonly type: 'changed'; readonly entry: FleetEntry }
  | { readonly type: 'removed'; readonly instance: Instance }
  | { readonly type: 'status'; readonly state: ContextState };

export type FleetListener = (event: FleetEvent) => void;
