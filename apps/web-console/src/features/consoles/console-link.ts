/**
 * How a console's connection lives. It comes by itself when the guest runs and, after a break, some times more; then
 * it waits for somebody. A guest that does not run is never called, and a shell that ended is not opened again unasked.
 */
export type LinkPhase = 'waiting' | 'connecting' | 'connected' | 'broken';

export interface LinkState {
  readonly phase: LinkPhase;
  /** Grows with every connection to be made. */
  readonly generation: number;
  /** Breaks since the last good connection. */
  readonly breaks: number;
  /** Why it broke, when the service said so. */
  readonly reason?: string;
  /** It came to its end: there is nothing to come back to. */
  readonly ended?: boolean;
}

export type LinkEvent =
  | { readonly type: 'guest'; readonly running: boolean }
  | { readonly type: 'open' }
  /** `lasted`: it was good for a while, so the count of breaks begins anew. */
  | { readonly type: 'closed'; readonly reason?: string; readonly lasted?: boolean; readonly ended?: boolean }
  /** By itself, or because a person asked: then the count of breaks begins anew. */
  | { readonly type: 'reconnect'; readonly asked?: true };

export const IDLE_LINK: LinkState = { phase: 'waiting', generation: 0, breaks: 0 };

/** Enough for a service that restarts. */
const RETRIES = 7;
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 15_000;

export function linkReducer(state: LinkState, event: LinkEvent): LinkState {
  switch (event.type) {
    case 'guest':
      if (!event.running) return { ...IDLE_LINK, generation: state.generation };
      return state.phase === 'waiting' ? calling(state, 0) : state;
    case 'open':
      return state.phase === 'connecting' ? { ...state, phase: 'connected' } : state;
    case 'closed':
      if (state.phase === 'waiting' || state.phase === 'broken') return state;
      return {
        phase: 'broken',
        generation: state.generation,
        breaks: event.lasted ? 1 : state.breaks + 1,
        ...(event.reason ? { reason: event.reason } : {}),
        ...(event.ended ? { ended: true } : {}),
      };
    case 'reconnect':
      return state.phase === 'broken' ? calling(state, event.asked ? 0 : state.breaks) : state;
  }
}

const calling = ({ generation }: LinkState, breaks: number): LinkState => ({
  phase: 'connecting',
  generation: generation + 1,
  breaks,
});

/** Milliseconds until it is tried again by itself; undefined when only a person may. */
export const retryDelay = ({ phase, breaks, ended }: LinkState): number | undefined =>
  phase === 'broken' && breaks <= RETRIES && !ended
    ? Math.min(FIRST_RETRY_MS * 2 ** (breaks - 1), LONGEST_RETRY_MS)
    : undefined;
