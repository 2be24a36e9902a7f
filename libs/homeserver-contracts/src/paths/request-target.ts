/** A parsed request target. It is only used for decisions: requests are forwarded with the target as received. */
export interface RequestTarget {
  /** Percent-decoded, without the empty segments of doubled and trailing slashes. */
  readonly segments: readonly string[];
  /**
   * The segments as other servers may read them, with empty ones, which some servers drop and others read as empty
   * parameters.
   */
  readonly otherReadings: readonly (readonly string[])[];
  /**
   * The segments as a server reads them behind a proxy that forwards the decoded path, so that they are decoded again.
   */
  readonly readingsDecodedAgain: readonly (readonly string[])[];
  readonly query: string;
}

/** Escapes, empty segments, and segments that begin with a dot. */
const UNUSUAL = /%|\/[/.]|\/$/;
const NO_OTHERS: RequestTarget['otherReadings'] = [];

/**
 * Splits a target at its slashes, then decodes each segment (which may contain `%2F`). Undefined for a target that two
 * servers could read differently: dot segments, backslashes, fragments, invalid escapes, absolute forms.
 */
export function readTarget(target: string): RequestTarget | undefined {
  if (!target.startsWith('/') || /[\\#]/.test(target)) return undefined;
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  const query = mark < 0 ? '' : target.slice(mark + 1);
  if (!UNUSUAL.test(path)) {
    const segments = withApiVersion(splitPath(path));
    return { segments, otherReadings: NO_OTHERS, readingsDecodedAgain: NO_OTHERS, query };
  }
  const raw = path.slice(1).split('/');
  const whole = path.includes('%') ? raw.map(decode) : raw;
  if (!whole.every(isPlain)) return undefined;
  const again = path.includes('%25') ? decodedAgain(whole) : NO_OTHERS;
  if (!again) return undefined;
  const readingsDecodedAgain = again.map(withApiVersion);
  const nonEmpty = withoutEmpty(whole);
  const segments = withApiVersion(nonEmpty);
  const hidesSlash = /%(?:2f|5c)/i.test(path);
  if (nonEmpty.length === whole.length && !hidesSlash)
    return { segments, otherReadings: NO_OTHERS, readingsDecodedAgain, query };
  const splits = hidesSlash ? [whole, ...unescapedReadings(whole)] : [whole];
  return { segments, otherReadings: splits.flatMap(readingsOf).map(withApiVersion), readingsDecodedAgain, query };
}

/** `split` takes three times as long. */
function splitPath(path: string): string[] {
  const segments: string[] = [];
  let start = 1;
  for (let end = path.indexOf('/', start); end >= 0; end = path.indexOf('/', start)) {
    segments.push(path.slice(start, end));
    start = end + 1;
  }
  segments.push(path.slice(start));
  return segments;
}

/**
 * The segments as servers and proxies read them that decode a path before they split it. nginx and Envoy then resolve
 * dot segments, with or without merging slashes first; some take a backslash for a slash.
 */
function unescapedReadings(segments: readonly string[]): string[][] {
  const splits = [/\//, /[/\\]/].map((slash) => segments.flatMap((segment) => segment.split(slash)));
  return splits.flatMap((split) =>
    split.some(isDots) ? [resolveDots(split), resolveDots(withoutEmpty(split)), split.filter(isPlain)] : [split],
  );
}

/** Proxies in a row that each decode a path once more. No client escapes anything this often. */
const MAX_DECODINGS = 3;
const ESCAPE = /%[0-9a-f]{2}/i;

/** Every reading after further decodings. Undefined for a path that still has escapes after the last one. */
function decodedAgain(segments: readonly string[]): string[][] | undefined {
  const readings: string[][] = [];
  let current = segments;
  for (let decodings = 0; current.some((segment) => ESCAPE.test(segment)); decodings++) {
    if (decodings === MAX_DECODINGS) return undefined;
    current = current.map(decodeEscapes);
    readings.push(...unescapedReadings(current).flatMap(readingsOf));
  }
  return readings;
}

/** Decodes the valid escapes and keeps the others. */
const decodeEscapes = (segment: string): string =>
  segment.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => decode(escapes) ?? escapes);

/** RFC 3986, section 5.2.4. */
function resolveDots(segments: readonly string[]): string[] {
  const kept: string[] = [];
  for (const segment of segments) {
    if (segment === '..') kept.pop();
    else if (segment !== '.') kept.push(segment);
  }
  return kept;
}

/** A first empty segment could introduce a host. */
function readingsOf(segments: readonly string[]): string[][] {
  const path = withoutExtraEmpty(segments);
  return segments[0] === '' ? [path, path.slice(1)] : [path];
}

/**
 * Drops empty segments that cannot be parameters: no path has a parameter before the fourth segment, or more than three
 * in a row.
 */
function withoutExtraEmpty(segments: readonly string[]): string[] {
  const kept: string[] = [];
  for (const segment of segments) {
    const isExtra = kept.length < 4 || kept.slice(-3).every((before) => before === '');
    if (segment !== '' || !isExtra) kept.push(segment);
  }
  return kept;
}

const withoutEmpty = (segments: readonly string[]): string[] => segments.filter((segment) => segment !== '');

function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

const isDots = (segment: string): boolean => segment === '.' || segment === '..';

const isPlain = (segment: string | undefined): segment is string => segment !== undefined && !isDots(segment);

/**
 * Joins API versions of two segments: `api/v1`, the oldest prefix, and `unstable` with the name of a proposal, which
 * always contains a dot.
 */
export function withApiVersion(segments: readonly string[]): readonly string[] {
  const [root = '', api = '', version, name = ''] = segments;
  const double = version === 'api' || (version === 'unstable' && name.includes('.'));
  return double && root === '_matrix' ? [root, api, `${version}/${name}`, ...segments.slice(4)] : segments;
}
