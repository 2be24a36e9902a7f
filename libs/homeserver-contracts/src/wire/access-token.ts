import { MatrixError } from '@headgate/matrix-protocol';

/** The parameters of a query without its question mark. Some servers also split them at `;`, so this does, too. */
export const parseQuery = (query: string): URLSearchParams => new URLSearchParams(`&${query.replaceAll(';', '&')}`);

/**
 * The access token of a request: from the header, else from the query.
 * @param rawHeaders name, value, name, value
 * @throws MatrixError when the request carries two different ones, of which another server might take the other
 */
export function accessTokenIn(rawHeaders: readonly string[], query: URLSearchParams): string | undefined {
  const tokens = new Set([...headerTokens(rawHeaders), ...query.getAll('access_token')]);
  if (tokens.size > 1) throw MatrixError.invalidParam('The request carries two different access tokens.');
  return [...tokens][0];
}

function* headerTokens(rawHeaders: readonly string[]): Generator<string> {
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.toLowerCase() !== 'authorization') continue;
    const bearer = /^Bearer[ ]+(\S+)[ ]*$/i.exec(rawHeaders[i + 1] ?? '');
    if (bearer?.[1]) yield bearer[1];
  }
}
