import { createClient } from '@redis/client';
import type { RedisTransport, TransportListener } from './redis-transport.js';
import { ServerTimeout } from './server-errors.js';
import { CONNECT_TIMEOUT_MS, type ServerOptions, credentialsOf, parseServerUrl } from './server-options.js';

const MIN_RECONNECT_DELAY_MS = 50;
const MAX_RECONNECT_DELAY_MS = 2000;

export const reconnectDelayMs = (retries: number): number =>
  Math.min(MIN_RECONNECT_DELAY_MS * 2 ** Math.min(retries, 10), MAX_RECONNECT_DELAY_MS);

/** A connection to a single server. */
export function singleTransport(options: ServerOptions, { onError, onStalled }: TransportListener): RedisTransport {
  const url = parseServerUrl(options.url!);
  const credentials = credentialsOf(url, options);
  url.username = '';
  url.password = '';
  const client = createClient({
    url: url.href,
    ...credentials,
    disableOfflineQueue: true,
    socket: { ...options.tls, connectTimeout: CONNECT_TIMEOUT_MS, reconnectStrategy: reconnectDelayMs },
  });
  let handshake: NodeJS.Timeout | undefined;
  // The client itself has no timeout for its handshake.
  client.on('connect', () => {
    handshake = setTimeout(() => onStalled(new ServerTimeout(CONNECT_TIMEOUT_MS)), CONNECT_TIMEOUT_MS);
  });
  for (const event of ['ready', 'error', 'end']) client.on(event, () => clearTimeout(handshake));
  // Commands reject with this error; without a listener, it would also end the process.
  client.on('error', onError);
  client.connect().catch(() => clearTimeout(handshake));
  return {
    get isReady() {
      return client.isReady;
    },
    send: (command) => client.sendCommand(command),
    destroy: () => client.destroy(),
  };
}
