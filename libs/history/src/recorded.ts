import type { BackendKindName, Holder, Instance } from '@headgate/domain-contracts';

/** An entry of the list, as the fleet has it. */
export interface RecordedEntry {
  readonly instance: Instance;
  readonly stale: boolean;
  readonly folder?: string;
  readonly busy?: Required<Holder>;
}

/** The state of a context, as the fleet has it. */
export interface RecordedContext {
  readonly context: string;
  readonly kind: BackendKindName;
  readonly state: 'connecting' | 'up' | 'lost' | 'detached';
  readonly reason?: string;
}

/** A change of the fleet. */
export type RecordedEvent =
  | { readonly type: 'changed'; readonly entry: RecordedEntry }
  | { readonly type: 'removed'; readonly instance: Instance; readonly isDetached?: true }
  | { readonly type: 'status'; readonly state: RecordedContext };

/** The live fleet, which is compared with the last recorded state when a recording begins or goes on. */
export interface RecordedFleet {
  entries(): Iterable<RecordedEntry>;
  contexts(): readonly RecordedContext[];
}

/** A time in which nothing was recorded, in milliseconds since the epoch. It has no end while it lasts. */
export interface Gap {
  readonly from: number;
  readonly to?: number;
}

/** The fleet as of a moment. In a gap, it is the last known state before it. */
export interface PastFleet {
  readonly entries: readonly RecordedEntry[];
  readonly contexts: readonly RecordedContext[];
  readonly gap?: Gap;
}

/** A recorded change of an instance, or a gap that has ended at `time`. */
export type PastChange = { readonly time: number } & (
  | { readonly type: 'gap'; readonly since: number }
  | {
      /** `detached`: its context left the fleet, or was not reachable when the service was started. */
      readonly type: 'added' | 'changed' | 'removed' | 'detached';
      readonly before?: RecordedEntry;
      readonly after?: RecordedEntry;
      /** The change happened in the gap before `time`. */
      readonly isFromGap: boolean;
    }
);

export interface ChangesQuery {
  /** In milliseconds since the epoch, inclusive. */
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  /** As text. */
  readonly ref?: string;
  readonly context?: string;
  /** The cursor of the previous page. */
  readonly after?: string;
  readonly limit: number;
  /** Whether a caller may see a change. All of them by default. */
  readonly isVisible?: (change: Extract<PastChange, { readonly isFromGap: boolean }>) => boolean;
}

/** Changes, the oldest first. A page may have fewer than its limit, or none, although another one follows. */
export interface ChangesPage {
  readonly changes: readonly PastChange[];
  /** The cursor of the next page; absent on the last one. */
  readonly cursor?: string;
}
