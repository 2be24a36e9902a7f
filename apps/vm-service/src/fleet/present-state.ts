import type { ContextState } from '@headgate/fleet';

/** The JSON value of the state of a context in event streams. */
export const presentState = ({ context, kind, state, reason }: ContextState): object => ({
  context,
  backend: kind,
  up: state === 'up',
  reason,
});
