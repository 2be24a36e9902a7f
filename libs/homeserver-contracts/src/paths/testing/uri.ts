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

/** Whether dot segments lead above the root, where RFC 3986 stays at it and nginx refuses. */
export function leavesRoot(path: string): boolean {
  let depth = 0;
  for (const segment of path.split('/').slice(1)) {
    if (segment === '..') depth--;
    else if (segment !== '.') depth++;
    if (depth < 0) return true;
  }
  return false;
}

/** Percent-decodes a path; each character of the result is a byte. Undefined for an invalid escape. */
export function decodeEscapes(path: string): string | undefined {
  if (/%(?![0-9a-f]{2})/i.test(path)) return undefined;
  return path.replace(/%[0-9a-f]{2}/gi, (escape) => String.fromCharCode(parseInt(escape.slice(1), 16)));
}

/**
 * Escapes bytes of a path again as nginx does since 1.21.1 with `NGX_ESCAPE_URI`: controls, space, `"#%<>?\\^` and the
 * backtick, `{|}`, and everything outside of ASCII.
 */
export const escapeUri = (path: string): string => escapeAll(path, /[\0- "#%<>?\\^`{|}\x7f-\xff]/g);

/** As HAProxy does when it sends a request: tabs are sent as they are. */
export const escapeControls = (path: string): string => escapeAll(path, /[\0-\x08\n-\x1f\x7f]/g);

/** Escapes bytes of a path as Apache's proxies do: everything but letters, digits and `$-_.+!*'(),:@&=/~;`. */
export const escapeCanonically = (path: string): string => escapeAll(path, /[^\w$.+!*'(),:@&=/~;-]/g);

/** Escapes bytes of a path as Go does when it has changed the path, or received bytes that it would escape. */
export const escapeAsGo = (path: string): string => escapeAll(path, /[^\w$&+,/:;=@.~-]/g);

export const isValidInGo = (path: string): boolean => /^[\w%!$&'()*+,/:;=@[\].~-]*$/.test(path);

const escapeAll = (path: string, bytes: RegExp): string =>
  path.replace(bytes, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);

/** What a server reads of a target with raw controls or spaces: the request line ends there. */
export const asRequestLine = (target: string): string => target.split(/[\0- ]/, 1)[0] ?? '';
