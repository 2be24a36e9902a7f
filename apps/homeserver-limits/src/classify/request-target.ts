/** A request target taken apart for deciding; what is forwarded is always the target as it came. */
export interface RequestTarget {
  /** Percent-decoded, without the empty segments that doubled and trailing slashes leave. */
  readonly segments: readonly string[];
  /** What other servers may see, with its empty segments: each of them is nothing to one, and an empty parameter to another. */
  readonly otherReadings: readonly (readonly string[])[];
  readonly query: string;
}

const NO_OTHERS: RequestTarget['otherReadings'] = [];

/**
 * Takes a target apart: first at the slashes, then each segment decoded (a segment may hold `%2F`). Undefined for a target
 * that two servers could read differently: dot segments, backslashes, fragments, broken escapes, absolute forms.
 */
export function readTarget(target: string): RequestTarget | undefined {
  if (!target.startsWith('/') || /[\\#]/.test(target)) return undefined;
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  const query = mark < 0 ? '' : target.slice(mark + 1);
  const raw = path.slice(1).split('/');
  const whole = path.includes('%') ? raw.map(decode) : raw;
  if (!whole.every(isPlain)) return undefined;
  const filled = withoutEmpty(whole);
  const segments = withApiVersion(filled);
  const hidesSlash = /%2f/i.test(path);
  if (filled.length === whole.length && !hidesSlash) return { segments, otherReadings: NO_OTHERS, query };
  const splits = hidesSlash ? [whole, whole.flatMap((segment) => segment.split('/'))] : [whole];
  return { segments, otherReadings: splits.flatMap(readingsOf).map(withApiVersion), query };
}

/** What begins with an empty segment could begin with a host. */
function readingsOf(segments: readonly string[]): string[][] {
  const path = withoutNeedlessEmpty(segments);
  return segments[0] === '' ? [path, path.slice(1)] : [path];
}

/**
 * Empty segments that could be no parameter are left out: no parameter comes before the fourth segment, and three stand
 * in a row at most.
 */
function withoutNeedlessEmpty(segments: readonly string[]): string[] {
  const kept: string[] = [];
  for (const segment of segments) {
    const needless = kept.length < 4 || kept.slice(-3).every((before) => before === '');
    if (segment !== '' || !needless) kept.push(segment);
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

const isPlain = (segment: string | undefined): segment is string =>
  segment !== undefined && segment !== '.' && segment !== '..';

/**
 * Some versions take two segments: `api/v1`, the oldest prefix, and `unstable` with the name of a proposal, which always has
 * a dot.
 */
export function withApiVersion(segments: readonly string[]): readonly string[] {
  const [root = '', api = '', version, name = ''] = segments;
  const double = version === 'api' || (version === 'unstable' && name.includes('.'));
  return double && root === '_matrix' ? [root, api, `${version}/${name}`, ...segments.slice(4)] : segments;
}
