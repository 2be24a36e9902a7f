import { request as httpRequest } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { isIP } from 'node:net';
import { isServerName } from '@headgate/matrix-protocol';
import { isPublicAddress, PrivateAddressError, publicLookup } from './public-address.js';

const TIMEOUT_MS = 10_000;
const MAX_RESPONSE_BYTES = 256 * 1024;
const FEDERATION_PORT = 8448;

/**
 * Sends requests to other servers, whose names come from callers. So it connects to public addresses only, follows no
 * redirects, and limits the size of responses. Peers with a URL set by the operator are reached there.
 */
export class PeerClient {
  constructor(private readonly fixed: Readonly<Record<string, string>>) {}

  /** Rejects when the peer cannot or may not be reached, or responds with anything but 200 and JSON. */
  async getJson(server: string, path: string): Promise<unknown> {
    const fixed = Object.hasOwn(this.fixed, server) ? this.fixed[server] : undefined;
    if (fixed !== undefined) return fetchJson(new URL(path, fixed), server, {});
    const { host, port } = await this.addressOf(server);
    return fetchJson(new URL(`https://${host}:${port}${path}`), server, publicOnly(host));
  }

  /** A name with a port is used literally; any other may delegate to another host. */
  private async addressOf(server: string): Promise<{ host: string; port: number }> {
    const own = splitServerName(server);
    if (own.port !== undefined || isIP(own.host.replace(/^\[|\]$/g, '')) !== 0) {
      return { host: own.host, port: own.port ?? FEDERATION_PORT };
    }
    const delegation = new URL(`https://${own.host}/.well-known/matrix/server`);
    const document = await fetchJson(delegation, own.host, publicOnly(own.host)).catch(() => undefined);
    const delegated = (document as Record<string, unknown> | undefined)?.['m.server'];
    const target = isServerName(delegated) ? splitServerName(delegated) : own;
    return { host: target.host, port: target.port ?? FEDERATION_PORT };
  }
}

function splitServerName(server: string): { host: string; port?: number } {
  const port = /:([0-9]{1,5})$/.exec(server.replace(/^\[.*\]/, ''))?.[1];
  if (port === undefined) return { host: server };
  return { host: server.slice(0, -port.length - 1), port: Number(port) };
}

/** @throws PrivateAddressError for a literal address that is not public */
function publicOnly(host: string): RequestOptions {
  const address = host.replace(/^\[|\]$/g, '');
  if (isIP(address) !== 0 && !isPublicAddress(address)) {
    throw new PrivateAddressError(`${host} is not a public address`);
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
      if (length > MAX_RESPONSE_BYTES) outgoing.destroy(new Error(`${server} sent a response that is too large`));
      else chunks.push(chunk);
    });
    response.once('error', reject);
    response.once('end', () => {
      try {
        if (response.statusCode !== 200) throw new Error(`${server} responded with ${response.statusCode}`);
        resolve(JSON.parse(Buffer.concat(chunks).toString('utf8')));
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
  });
  outgoing.end();
  return promise;
}
