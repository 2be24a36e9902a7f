import {
  asRequestLine,
  decodeBytes,
  decodeEscapes,
  escapeAsGo,
  escapeCanonically,
  escapeControls,
  escapeUri,
  isValidInGo,
  leavesRoot,
  mergeSlashes,
  resolveDots,
} from './uri.js';

/**
 * How a proxy reads a request target and forwards it: the target in the request line that it sends. Undefined for a
 * target that it refuses. Each is a small model of one documented setting, for tests.
 */
export type Proxy = (target: string) => string | undefined;

const pathOf = (target: string): string => target.split('?', 1)[0] ?? '';
const queryOf = (target: string): string => target.slice(pathOf(target).length);

/** `$uri` of nginx: decoded, cut at a fragment, without dot segments and repeated slashes. */
function nginxUri(target: string): string | undefined {
  const path = decodeEscapes(pathOf(target).split('#', 1)[0] ?? '');
  if (path === undefined || path.includes('\0')) return undefined;
  const merged = mergeSlashes(path);
  return leavesRoot(merged) ? undefined : resolveDots(merged);
}

const withUri = (forward: (uri: string, query: string, target: string) => string | undefined): Proxy => {
  return (target) => {
    const uri = nginxUri(target);
    // The arguments are empty then, and it adds no question mark.
    const query = queryOf(target);
    return uri === undefined ? undefined : forward(uri, query === '?' ? '' : query, target);
  };
};

/** It refuses a fragment. */
const haproxy = (forward: (path: string, query: string) => string | undefined): Proxy => {
  return (target) => (target.includes('#') ? undefined : forward(pathOf(target), queryOf(target)));
};

const decodeUnreserved = (path: string): string =>
  path.replace(/%(?:4[1-9a-f]|5[0-9a]|6[1-9a-f]|7[0-9a]|3[0-9]|2d|2e|5f|7e)/gi, (escape) =>
    String.fromCharCode(parseInt(escape.slice(1), 16)),
  );

/** It refuses a fragment, and an escaped zero. */
const envoy = (normalize: (path: string) => string): Proxy => {
  return (target) => {
    const path = pathOf(target);
    return /#|%00/.test(path) ? undefined : normalize(path) + queryOf(target);
  };
};

/**
 * As Chromium canonicalizes a path: backslashes are slashes, unreserved characters are decoded, and a percent sign that
 * would begin an escape only after that is escaped itself.
 */
function canonicalize(path: string): string {
  const tokens = path.replaceAll('\\', '/').match(/%[0-9a-f]{2}|[^]/gi) ?? [];
  const parts = tokens.map((token) => ({
    text: decodeUnreserved(token),
    isDecoded: decodeUnreserved(token) !== token,
  }));
  const isHex = (index: number) => /^[0-9a-f]$/i.test(parts[index]?.text ?? '');
  return parts
    .map(({ text }, index) => {
      const isNested = text === '%' && isHex(index + 1) && isHex(index + 2);
      const isNew = parts[index + 1]?.isDecoded === true || parts[index + 2]?.isDecoded === true;
      return isNested && isNew ? '%25' : text;
    })
    .join('');
}

/** `..;x` is a dot segment, too. */
const withoutDotParameters = (path: string): string => path.replace(/(\/\.\.?);[^/]*/g, '$1');

/** It decodes unreserved characters, writes escapes in capitals, and refuses a fragment. Semicolons end parameters. */
const traefik = (sanitize: (path: string) => string): Proxy => {
  return (target) => {
    const raw = pathOf(target);
    const decoded = decodeEscapes(raw);
    if (decoded === undefined || raw.includes('#') || /[\0-\x20\x7f]/.test(target)) return undefined;
    // Go keeps the path as it was received where it would escape it otherwise.
    const normalized = decodeUnreserved(raw).replace(/%[0-9a-f]{2}/gi, (escape) => escape.toUpperCase());
    const isKept = escapeAsGo(decoded) !== raw && isValidInGo(raw);
    return sanitize(isKept ? normalized : escapeAsGo(decoded)) + queryOf(target).replaceAll(';', '&');
  };
};

/** `path.Clean` of Go, which drops a last dot segment with its slash. */
const cleanAsGo = (path: string): string => {
  const clean = resolveDots(mergeSlashes(path)).replace(/\/+$/, '');
  return clean + (path.endsWith('/') || clean === '' ? '/' : '');
};

export const PROXIES: Readonly<Record<string, Proxy>> = {
  'nginx, proxy_pass http://hs': (target) => (nginxUri(target) === undefined ? undefined : target),
  // It escapes only paths in which something was escaped.
  'nginx, proxy_pass http://hs/': withUri(
    (uri, query, target) => (pathOf(target).includes('%') ? escapeUri(uri) : uri) + query,
  ),
  'nginx, proxy_pass http://hs$uri$is_args$args': withUri((uri, query) => asRequestLine(uri + query)),
  'nginx, location ~ ^/(.*)$ { proxy_pass http://hs/$1; }': withUri((uri) => {
    const rest = /^\/([^\n]*)\n?$/.exec(uri)?.[1];
    return rest === undefined ? undefined : asRequestLine(`/${rest}`);
  }),
  'nginx, rewrite ^/(.*)$ /$1 break': withUri((uri, query, target) => {
    const rest = /^\/([^\n]*)\n?$/.exec(uri)?.[1];
    // Without a change, it forwards the target as it was received.
    return rest === undefined ? target : escapeUri(`/${rest}`) + query;
  }),
  'nginx, rewrite ^/(.*) /$1 break': withUri((uri, query) => escapeUri(/^\/[^\n]*/.exec(uri)?.[0] ?? uri) + query),
  'Envoy, merge_slashes and normalize_path': envoy((path) =>
    mergeSlashes(resolveDots(withoutDotParameters(canonicalize(path)))),
  ),
  'Envoy, UNESCAPE_AND_FORWARD': envoy((path) =>
    resolveDots(withoutDotParameters(canonicalize(path.replace(/%2f/gi, '/').replace(/%5c/gi, '\\')))),
  ),
  'HAProxy, set-path %[path,url_dec]': haproxy((path, query) => {
    const decoded = decodeEscapes(path);
    return decoded === undefined ? undefined : asRequestLine(escapeControls(decoded) + query);
  }),
  'HAProxy, normalize-uri percent-decode-unreserved, path-strip-dotdot and path-merge-slashes': haproxy(
    (path, query) => resolveDots(mergeSlashes(decodeUnreserved(path))) + decodeUnreserved(query),
  ),
  'Caddy, a path that is cleaned': (target) => resolveDots(mergeSlashes(pathOf(target))) + queryOf(target),
  Traefik: traefik(cleanAsGo),
  'Traefik, sanitizePath: false': traefik((path) => path),
  'Caddy, rewrite * {path}': (target) => {
    const raw = pathOf(target);
    const path = decodeEscapes(raw);
    if (path === undefined) return undefined;
    const rewritten = path.split('?', 1)[0] ?? '';
    const isSame = rewritten === path && isValidInGo(raw);
    return (isSame ? raw : escapeAsGo(rewritten)) + queryOf(target);
  },
  'Apache, RewriteRule ^/(.*)$ http://hs/$1 [P]': (target) => {
    if (target.includes('#') || decodeEscapes(pathOf(target)) === undefined) return undefined;
    const raw = mergeSlashes(decodeUnreserved(pathOf(target)));
    if (leavesRoot(raw)) return undefined;
    const path = resolveDots(raw);
    // It refuses escaped slashes, and question marks in what a rule has rewritten.
    const decoded = /%(?:2f|3f|00)/i.test(path) ? undefined : decodeEscapes(path);
    return decoded === undefined ? undefined : escapeCanonically(decoded) + queryOf(target);
  },
  'WHATWG URL': (target) => {
    try {
      const { pathname, search } = new URL(target, 'http://b');
      return pathname + search;
    } catch {
      return undefined;
    }
  },
  'WHATWG URL of the decoded path': (target) => {
    try {
      const path = decodeBytes(pathOf(target));
      return path === undefined ? undefined : new URL(`http://b${path}`).pathname;
    } catch {
      return undefined;
    }
  },
};
