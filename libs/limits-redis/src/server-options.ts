import type { ConnectionOptions } from 'node:tls';

/** The server, or servers, of a limiter: exactly one of `url`, `cluster` and `sentinel`. */
export interface ServerOptions {
  /** A single server: `redis://[[user]:password@]host[:port][/database]`, or `rediss://` for TLS. */
  readonly url?: string;
  /**
   * A Redis Cluster: the URLs of some of its nodes, which report the others. Credentials and TLS of the first apply to
   * all.
   */
  readonly cluster?: { readonly nodes: readonly string[] };
  /** A primary that Sentinel monitors. */
  readonly sentinel?: SentinelOptions;
  /** Overrides the user in the URL. */
  readonly username?: string;
  /** Overrides the password in the URL. */
  readonly password?: string;
  /** For `rediss://`: the authority of the server's certificate, if it is a private one, and a client certificate. */
  readonly tls?: Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'servername'>;
}

export interface SentinelOptions {
  /** The name of the monitored primary. */
  readonly name: string;
  /**
   * URLs of the sentinels, `redis://[[user]:password@]host:port`. `username` and `password` are those of the primary.
   */
  readonly nodes: readonly string[];
}

export const CONNECT_TIMEOUT_MS = 1000;

/** @throws TypeError when an address is invalid, or there is not exactly one kind of server */
export function validateServers({ url, cluster, sentinel }: ServerOptions): void {
  if ([url, cluster, sentinel].filter((server) => server !== undefined).length !== 1) {
    throw new TypeError('Set exactly one of url, cluster and sentinel.');
  }
  const urls = url === undefined ? (cluster ?? sentinel)!.nodes : [url];
  if (urls.length === 0) throw new TypeError('A cluster or sentinel needs the URL of at least one node.');
  for (const one of urls) parseServerUrl(one);
}

export function parseServerUrl(url: string): URL {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  // The client's own error would contain the whole URL, with its password.
  if (!parsed || !['redis:', 'rediss:'].includes(parsed.protocol) || parsed.hostname === '') {
    throw new TypeError('The URL of the Redis server must be redis://HOST[:PORT] or rediss://HOST[:PORT].');
  }
  return parsed;
}

/** Without the brackets of an IPv6 address. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

/** Separate options override the credentials of a URL. */
export function credentialsOf(url: URL, { username, password }: Pick<ServerOptions, 'username' | 'password'>) {
  const user = username ?? decodeURIComponent(url.username);
  const secret = password ?? decodeURIComponent(url.password);
  return { ...(user === '' ? {} : { username: user }), ...(secret === '' ? {} : { password: secret }) };
}

/** The type of the client wants a literal for `tls`, which only exists after the URL was read. */
export const socketOptions = (url: URL, tls: ServerOptions['tls']) => ({
  connectTimeout: CONNECT_TIMEOUT_MS,
  ...(url.protocol === 'rediss:' ? { tls: true as const, ...tls } : {}),
});
