import type { IncomingHttpHeaders } from 'node:http';
import { TOKEN_PREFIX } from '@headgate/access';

/**
 * The API token that a request presents, valid or not. Other credentials in the header are those of a proxy and are
 * ignored, but a text with our prefix is always meant for us.
 */
export function bearerToken({ authorization = '' }: IncomingHttpHeaders): string | undefined {
  const [, text] = /^bearer\s+(\S.*)$/i.exec(authorization.trim()) ?? [];
  return text?.startsWith(TOKEN_PREFIX) ? text : undefined;
}
