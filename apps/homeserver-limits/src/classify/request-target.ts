/** A request target taken apart for deciding; what is forwarded is always the target as it came. */
export interface RequestTarget {
  /** Percent-decoded, without the empty segments that doubled and trailing slashes leave. */
  readonly segments: readonly string[];
  /** The segments another server would see if it decoded before splitting; undefined when that makes no difference. */
  readonly lateSegments?: readonly string[];
  readonly query: string;
}

/**
 * Takes a target apart: first at the slashes, then each segment decoded (a segment may hold `%2F`). Undefined for a target
 * that two servers could read differently: dot segments, backslashes, fragments, broken escapes, absolute forms.
 */
export function readTarget(target: string): RequestTarget | undefined {
  if (!target.startsWith('/') || /[\\#]/.test(target)) return undefined;
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  const query = mark < 0 ? '' : target.slice(mark + 1);
  const raw = path.split('/').filter((segment) => segment.length > 0);
  const segments = path.includes('%') ? raw.map(decode) : raw;
  if (!segments.every(isPlain)) return undefined;
  if (!/%2f/i.test(path)) return { segments: withApiVersion(segments), query };
  const late = segments.flatMap((segment) => segment.split('/')).filter((segment) => segment.length > 0);
  return { segments: withApiVersion(segments), lateSegments: withApiVersion(late), query };
}

function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

const isPlain = (segment: string | undefined): segment is string =>
  segment !== undefined && segment !== '.' && segment !== '..';

/** `api/v1`, the oldest prefix, is one version in two segments. */
function withApiVersion(segments: string[]): string[] {
  return segments[2] === 'api' && segments[0] === '_matrix'
    ? [...segments.slice(0, 2), segments.slice(2, 4).join('/'), ...segments.slice(4)]
    : segments;
}
