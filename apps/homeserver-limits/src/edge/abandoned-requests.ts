import type { ServerResponse } from 'node:http';
import { RateExceeded } from '@headgate/limits-core';
import type { CallerAddress } from './caller-address.js';
import { OpenCounts } from './open-counts.js';

/** When the homeserver will respond is not known. */
const RETRY_MS = 1_000;

export interface AbandonedRequestsDeps {
  readonly addresses: Pick<CallerAddress, 'trusts'>;
  /** How many of them one source may leave behind. */
  readonly maxPerSource: number;
  /** Receives the source of each refused request. */
  readonly onRefused: (source: string) => void;
}

interface Caller {
  readonly address: string;
  readonly source: string;
}

/**
 * Requests that are carried out for callers who have hung up, because they count. Their connections are closed, so the
 * limit of connections does not bound them, and a caller who sends a request and closes at once could start any number.
 */
export class AbandonedRequests {
  private readonly counts = new OpenCounts();

  constructor(private readonly deps: AbandonedRequestsDeps) {}

  /**
   * Counts a request from the moment when its caller hangs up.
   * @returns ends the count; call it once, when the request has ended
   * @throws RateExceeded when the source has left too many
   */
  follow({ address, source }: Caller, response: Pick<ServerResponse, 'closed' | 'once' | 'off'>): () => void {
    const { addresses, maxPerSource, onRefused } = this.deps;
    // A proxy that names no caller is the address of all of them.
    if (addresses.trusts(address)) return () => undefined;
    if (this.counts.of(source) >= maxPerSource) {
      onRefused(source);
      throw new RateExceeded({ rate: 'abandoned_requests', retryAfterMs: RETRY_MS });
    }
    let isAbandoned = false;
    const onClose = (): void => {
      isAbandoned = true;
      this.counts.open(source);
    };
    if (response.closed) onClose();
    else response.once('close', onClose);
    return () => {
      response.off('close', onClose);
      if (isAbandoned) this.counts.close(source);
    };
  }
}
