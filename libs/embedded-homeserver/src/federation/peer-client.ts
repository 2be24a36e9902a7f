import { request as httpRequest } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { isIP } from 'node:net';
import { isServerName } from '@headgate/matrix-protocol';
import { isPublicAddress, PrivateAddressRefused, publicLookup } from './public-address.js';

const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 256 * 1024;
const FEDERATION_PORT = 8448;

/**
 * Asks other servers, whose names come from callers: so it only ever connects to public addresses, follows no redirect,
 * and reads no more than a document's worth. Peers with an address fixed by the operator are reached there.
 */
export class PeerClient {
  constructor(private readonly fixed: Readonly<Record<string, string>>) {}

  /** Rejects when the peer cannot be reached, may not be reached, or answers anything but 200 and JSON. */
  async getJson(server: string, path: string): Promise<unknown> {
    const fixed = Object.hasOwn(this.fixed, server) ? this.fixed[server] : undefined;
    if (fixed !== undefined) return fetchJson(new URL(path, fixed), server, {});
    const { host, port } = await this.addressOf(server);
    return fetchJson(new URL(`https://${host}:${port}${path}`), server, guarded(host));
  }

  /** A name with a port is meant literally; any other may delegate to another host. */
  private async addressOf(server: string): Promise<{ host: string; port: number }> {
    const own = splitServerName(server);
    if (own.port !== undefined || isIP(own.host.replace(/^\[|\]$/g, '')) !== 0) {
      return { host: own.host, port: own.port ?? FEDERATION_PORT };
    }
    const delegation = new URL(`https://${own.host}/.well-known/matrix/server`);
    const answer = await fetchJson(delegation, own.host, guarded(own.host)).catch(() => undefined);
    const delegated = (answer as Record<string, unknown> | undefined)?.['m.server'];
    const target = isServerName(delegated) ? splitServerName(delegated) : own;
    return { host: target.host, port: target.port ?? FEDERATION_PORT };
  }
}

function splitServerName(server: string): { host: string; port?: number } {
  const port = /:([0-9]{1,5})$/.exec(server.replace(/^\[.*\]/, ''))?.[1];
  if (port === undefined) return { host: server };
  return { host: server.slice(0, -port.length - 1), port: Number(port) };
}

/** @throws PrivateAddressRefused for an address that is written out and not public */
function guarded(host: string): RequestOptions {
  const address = host.replace(/^\[|\]$/g, '');
  if (isIP(address) !== 0 && !isPublicAddress(address)) {
    throw new PrivateAddressRefused(`${host} is not a public address`);
  }
  return { lookup: publicLookup };
}

function fetchJson(url: URL, server: string, options: RequestOptions): Promise<unknown> {
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const outgoing = request(url, {
    ...options,
    agent: false,
    headers: { Host: server, Accept: 'application/json' },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  outgoing.once('error', reject);
  outgoing.once('response', (response) => {
    const chunks: Buffer[] = [];
    let length = 0;
    response.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > MAX_ANSWER_BYTES) outgoing.destroy(new Error(`${server} answers too much`));
      else chunks.push(chunk);
    });
    response.once('error', reject);
    response.once('end', () => {
      try {
        if (response.statusCode !== 200) throw new Error(`${server} answered ${response.statusCode}`);
        resolve(JSON.parse(Buffer.concat(chunks).toString('utf8')));
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
  });
  outgoing.end();
  return promise;
}
