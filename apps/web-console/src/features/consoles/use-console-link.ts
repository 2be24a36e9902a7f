import { useEffect, useReducer, type ActionDispatch } from 'react';
import { IDLE_LINK, linkReducer, retryDelay, type LinkEvent, type LinkState } from './console-link.js';

/** The connection of one console. It follows the state of the guest. */
export function useConsoleLink(running: boolean): [LinkState, ActionDispatch<[LinkEvent]>] {
  const [state, dispatch] = useReducer(linkReducer, IDLE_LINK);
  useEffect(() => dispatch({ type: 'guest', running }), [running]);

  const delay = retryDelay(state);
  useEffect(() => {
    if (delay === undefined) return undefined;
    const timer = setTimeout(() => dispatch({ type: 'reconnect' }), delay);
    return () => clearTimeout(timer);
  }, [delay]);

  return [state, dispatch];
}
