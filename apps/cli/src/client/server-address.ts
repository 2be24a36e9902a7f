import { isIP } from 'node:net';
import { ClientError } from './client-error.js';

/** A service, and how requests to it are sent. */
export interface ServerAccess {
  /** Without a query; its path ends with a slash. */
  readonly url: URL;
  readonly token?: string;
  /** Certificates in PEM that are trusted instead of the usual ones. */
  readonly ca?: string;
}

/** The address of a service that was started on this machine without options. */
export const LOCAL_SERVER = 'http://127.0.0.1:8006';

/** @param where names the setting in errors @throws ClientError for an address that is not usable */
export function parseServerAddress(text: string, where: string): URL {
  const url = URL.parse(text.includes('://') ? text : `https://${text}`);
  if (!url || !['http:', 'https:'].includes(url.protocol))
    throw ClientError.usage(`${where} must be an http or https address, such as https://vms.example.org.`);
  if (url.username || url.password)
    throw ClientError.usage(
      `${where} must not contain a user name or a password, because other users of this machine can read command lines. Use a token.`,
    );
  url.search = '';
  url.hash = '';
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return url;
}

/** The address as it is shown and stored, without a slash at its end. */
export const addressOf = (url: URL): string => url.href.replace(/\/$/, '');

/** Whether only this machine can read the traffic to the host. */
export function isLoopback({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (host === 'localhost' || host.endsWith('.localhost') || host === '::1') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}

/** @throws ClientError if the token could be read on its way to the server */
export function refuseTokenInTheClear({ url, token }: ServerAccess, isInsecureHttpAllowed: boolean): void {
  if (token === undefined || url.protocol === 'https:' || isLoopback(url) || isInsecureHttpAllowed) return;
  throw ClientError.usage(
    `The token is not sent to ${addressOf(url)}, because anyone on the way could read it. Use an https address, or --insecure-http if the network is trusted.`,
  );
}

/** The token in a file or a variable. @throws ClientError for one that no header can contain */
export function parseToken(text: string, where: string): string {
  const token = text.trim();
  if (!/^[\x21-\x7e]{1,4096}$/.test(token))
    throw ClientError.usage(`${where} must contain a token on one line, such as hgt_…, and nothing else.`);
  return token;
}
