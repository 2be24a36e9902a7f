import { messageOf, type Clock, type Log } from '@headgate/domain-contracts';
import type { KubeObject } from '../api/kube-object.js';
import type { BeatingObjects } from './beating-objects.js';
import { BEAT_MS } from './left-overs.js';

export interface Beats {
  readonly objects: Pick<BeatingObjects, 'beat'>;
  readonly clock: Clock;
  readonly log: Log;
  /** For the log. */
  readonly failed: string;
}

/** Says that a service still uses an object, until the returned function is called. */
export function startBeats(object: KubeObject, { objects, clock, log, failed }: Beats): () => void {
  let count = 0;
  return clock.every(BEAT_MS, () => {
    void objects.beat(object, ++count).catch((error: unknown) => {
      log.warn({ object: object.metadata.name, reason: messageOf(error) }, failed);
    });
  });
}
