import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import type { LookupFunction } from 'node:net';
import { DomainError, messageOf, type Clock } from '@headgate/domain-contracts';

export interface ExporterRequest {
  readonly url: URL;
  /** The only certificate that is accepted, in PEM. */
  readonly certificate: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Replaces the name resolution in tests. */
  readonly lookup?: LookupFunction;
}

const TIMEOUT_MS = 10_000;
/** The service is not running in the cluster, or a network policy keeps it away from the exporter. */
const NOT_REACHABLE = /^(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT)$/;

/**
 * Opens a disk at the exporter itself, whose Service only clients inside the cluster can reach.
 * @returns undefined when it can't be reached from here
 * @throws DomainError BACKEND_FAILED when it has another certificate, or refuses the request
 */
export function connectToExporter(clock: Clock, wanted: ExporterRequest): Promise<IncomingMessage | undefined> {
  const { url, certificate, headers, signal, lookup } = wanted;
  return new Promise((resolve, reject) => {
    const sent = request(url, { ca: certificate, headers, signal, lookup, agent: false });
    let isLate = false;
    const cancel = clock.after(TIMEOUT_MS, () => {
      isLate = true;
      sent.destroy();
    });
    sent.once('response', (response) => {
      cancel();
      if (response.statusCode === 200 || response.statusCode === 206) return resolve(response);
      response.destroy();
      reject(failed(`it answers with the status ${response.statusCode}`));
    });
    sent.once('error', (error: NodeJS.ErrnoException) => {
      cancel();
      if (signal.aborted) reject(signal.reason as Error);
      else if (isLate || NOT_REACHABLE.test(error.code ?? '')) resolve(undefined);
      else reject(failed(messageOf(error), error));
    });
    sent.end();
  });
}

const failed = (why: string, cause?: unknown): DomainError =>
  new DomainError('BACKEND_FAILED', `The exporter of the cluster can't be used: ${why}.`, { cause });
