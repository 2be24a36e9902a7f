/** Percent-decodes a path as bytes and reads them as UTF-8; undefined for an invalid escape or text. */
export function decodeBytes(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

export const mergeSlashes = (path: string): string => path.replace(/\/+/g, '/');

/** Resolves dot segments as in RFC 3986, section 5.2.4. */
export function resolveDots(path: string): string {
  const kept: string[] = [];
  const segments = path.split('/').slice(1);
  segments.forEach((segment, index) => {
    if (segment === '..') kept.pop();
    if (segment !== '.' && segment !== '..') kept.push(segment);
    else if (index === segments.length - 1) kept.push('');
  });
  return `/${kept.join('/')}`;
}

/** nginx escapes a path again with `NGX_ESCAPE_URI`: controls, space, `#`, `%`, `?` and everything outside of ASCII. */
export const escapeUri = (path: string): string =>
  path.replace(/[\0- #%?\x7f]|[^\0-\x7f]+/g, (text) =>
    [...new TextEncoder().encode(text)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
