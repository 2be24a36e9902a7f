import { ListenAddress } from '@headgate/nest-kit';

/** Whether a URL leads to the listener itself: each request would then loop until no connection is left. */
export function pointsTo(upstream: string, listen: string): boolean {
  const { protocol, hostname, port } = new URL(upstream);
  const own = ListenAddress.parse(listen);
  if (Number(port || (protocol === 'https:' ? 443 : 80)) !== own.port) return false;
  const host = hostname.replace(/^\[|\]$/g, '');
  return host === own.host || (isLoopback(host) && (own.isLoopback || own.isWildcard));
}

const isLoopback = (host: string): boolean =>
  ListenAddress.parse(host.includes(':') ? `[${host}]:0` : `${host}:0`).isLoopback;
