export interface ConsoleGuest {
  readonly name: string;
  /** Its state in words. */
  readonly state: string;
  /** Whether there is a guest to connect to. */
  readonly running: boolean;
}

/**
 * The life cycle of a console's connection. It connects automatically when the guest runs and retries a limited number
 * of times after a failure; then it waits for the user. It never connects to a stopped guest, and it does not reopen a
 * shell that ended.
 */
export type LinkPhase = 'waiting' | 'connecting' | 'connected' | 'broken';

export interface LinkState {
  readonly phase: LinkPhase;
  /** Increases with every connection attempt. */
  readonly attempt: number;
  /** Failures since the last stable connection. */
  readonly failures: number;
  /** Why it failed, if the service gave a reason. */
  readonly reason?: string;
  /** Whether the console itself ended, so that there is nothing to reconnect to. */
  readonly ended?: boolean;
}

export type LinkEvent =
  | { readonly type: 'guest'; readonly running: boolean }
  | { readonly type: 'open' }
  /** `wasStable`: the connection worked for a while, so the failures are counted from scratch. */
  | { readonly type: 'closed'; readonly reason?: string; readonly wasStable?: boolean; readonly ended?: boolean }
  /** A manual reconnect resets the number of failures. */
  | { readonly type: 'reconnect'; readonly isManual?: true };

export const IDLE_LINK: LinkState = { phase: 'waiting', attempt: 0, failures: 0 };

/** Enough for a service that restarts. */
const MAX_RETRIES = 7;
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 15_000;

export function linkReducer(state: LinkState, event: LinkEvent): LinkState {
  switch (event.type) {
    case 'guest':
      if (!event.running) return { ...IDLE_LINK, attempt: state.attempt };
      return state.phase === 'waiting' ? connecting(state, 0) : state;
    case 'open':
      return state.phase === 'connecting' ? { ...state, phase: 'connected' } : state;
    case 'closed':
      if (state.phase === 'waiting' || state.phase === 'broken') return state;
      return {
        phase: 'broken',
        attempt: state.attempt,
        failures: event.wasStable ? 1 : state.failures + 1,
        ...(event.reason ? { reason: event.reason } : {}),
        ...(event.ended ? { ended: true } : {}),
      };
    case 'reconnect':
      return state.phase === 'broken' ? connecting(state, event.isManual ? 0 : state.failures) : state;
  }
}

const connecting = ({ attempt }: LinkState, failures: number): LinkState => ({
  phase: 'connecting',
  attempt: attempt + 1,
  failures,
});

/** Milliseconds until the automatic retry; undefined when only the user can reconnect. */
export const retryDelay = ({ phase, failures, ended }: LinkState): number | undefined =>
  phase === 'broken' && failures <= MAX_RETRIES && !ended
    ? Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), MAX_RETRY_MS)
    : undefined;
