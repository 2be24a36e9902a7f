/** The two parts of HOST:PORT, the host without brackets. */
export function hostAndPort(listen: string): { host: string; port: number } {
  const colon = listen.lastIndexOf(':');
  return { host: withoutBrackets(listen.slice(0, colon)), port: Number(listen.slice(colon + 1)) };
}

/** The URL of a listener. @param host without brackets */
export const urlOf = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

/** Whether a URL leads to the listener itself: each request would then loop until no connection is left. */
export function pointsTo(upstream: string, listen: string): boolean {
  const { protocol, hostname, port } = new URL(upstream);
  const own = hostAndPort(listen);
  if (Number(port || (protocol === 'https:' ? 443 : 80)) !== own.port) return false;
  const host = withoutBrackets(hostname);
  return host === own.host || (LOOPBACK.test(host) && (LOOPBACK.test(own.host) || ANY_ADDRESS.has(own.host)));
}

const withoutBrackets = (host: string): string => host.replace(/^\[|\]$/g, '');

const LOOPBACK = /^(?:localhost|127\.[0-9.]+|::1)$/;
const ANY_ADDRESS = new Set(['0.0.0.0', '::']);
