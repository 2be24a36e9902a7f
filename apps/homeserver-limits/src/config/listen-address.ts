/** The two parts of HOST:PORT, the host without brackets. */
export function hostAndPort(listen: string): { host: string; port: number } {
  const colon = listen.lastIndexOf(':');
  return { host: bare(listen.slice(0, colon)), port: Number(listen.slice(colon + 1)) };
}

/** Whether a URL leads back to who listens there: every request would then go round until nothing is left to carry it. */
export function isOurself(upstream: string, listen: string): boolean {
  const { protocol, hostname, port } = new URL(upstream);
  const own = hostAndPort(listen);
  if (Number(port || (protocol === 'https:' ? 443 : 80)) !== own.port) return false;
  const host = bare(hostname);
  return host === own.host || (LOOPBACK.test(host) && (LOOPBACK.test(own.host) || ANYWHERE.has(own.host)));
}

const bare = (host: string): string => host.replace(/^\[|\]$/g, '');

const LOOPBACK = /^(?:localhost|127\.[0-9.]+|::1)$/;
const ANYWHERE = new Set(['0.0.0.0', '::']);
