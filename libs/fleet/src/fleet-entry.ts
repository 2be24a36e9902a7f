import type { BackendKind, Instance } from '@headgate/domain-contracts';

/** An instance as the fleet shows it. */
export interface FleetEntry {
  readonly instance: Instance;
  /** The context is lost; this is what was last known. */
  readonly stale: boolean;
}

/** How one context is right now. */
export interface ContextState {
  readonly context: string;
  readonly kind: BackendKind;
  /** `connecting` until it was heard of for the first time. */
  readonly state: 'connecting' | 'up' | 'lost';
  /** Why it is lost. */
  readonly reason?: string;
}

/** What changed in the fleet, one thing at a time. */
export type FleetEvent =
  | { readonly type: 'changed'; readonly entry: FleetEntry }
  | { readonly type: 'removed'; readonly instance: Instance }
  | { readonly type: 'status'; readonly state: ContextState };

export type FleetListener = (event: FleetEvent) => void;
