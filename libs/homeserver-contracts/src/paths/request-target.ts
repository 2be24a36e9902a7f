import {
  decode,
  isDots,
  laterReadings,
  type LaterReadings,
  readingsOf,
  type Segments,
  unescapedReadings,
  withoutEmpty,
} from './other-readings.js';

/** A parsed request target. It is only used for decisions: requests are forwarded with the target as received. */
export interface RequestTarget {
  /** Percent-decoded, without the empty segments of doubled and trailing slashes. */
  readonly segments: Segments;
  /**
   * The segments as other servers may read them, with empty ones, which some servers drop and others read as empty
   * parameters.
   */
  readonly otherReadings: readonly Segments[];
  /**
   * The segments as a server reads them behind a proxy that forwards the decoded path, so that they are decoded again.
   */
  readonly readingsDecodedAgain: readonly Segments[];
  /** The segments as servers read them that end a decoded path early, at any of `endsIn`. */
  readonly earlyReadings: readonly Segments[];
  readonly query: string;
}

/** Escapes, empty segments, and segments that begin with a dot. */
const UNUSUAL = /%|\/[/.]|\/$/;
/** Escapes of `%`, of controls and spaces, and of `?` and `#`. */
const MAY_READ_LATER = /%(?:25|[01][0-9a-f]|20|7f|3f|23)/i;
const NO_OTHERS: readonly Segments[] = [];
const NONE_LATER: LaterReadings = { decodedAgain: NO_OTHERS, early: NO_OTHERS };

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
    return { segments, otherReadings: NO_OTHERS, readingsDecodedAgain: NO_OTHERS, earlyReadings: NO_OTHERS, query };
  }
  const raw = path.slice(1).split('/');
  const whole = path.includes('%') ? raw.map(decode) : raw;
  if (!whole.every(isPlain)) return undefined;
  const later = MAY_READ_LATER.test(path) ? laterReadings(whole) : NONE_LATER;
  if (!later) return undefined;
  const others = {
    readingsDecodedAgain: later.decodedAgain.map(withApiVersion),
    earlyReadings: later.early.map(withApiVersion),
    query,
  };
  const nonEmpty = withoutEmpty(whole);
  const segments = withApiVersion(nonEmpty);
  const hidesSlash = /%(?:2f|5c)/i.test(path);
  if (nonEmpty.length === whole.length && !hidesSlash) return { segments, otherReadings: NO_OTHERS, ...others };
  const splits = hidesSlash ? [whole, ...unescapedReadings(whole)] : [whole];
  return { segments, otherReadings: splits.flatMap(readingsOf).map(withApiVersion), ...others };
}

/** Every way in which a server may read a target. */
export const readingsOfTarget = (target: RequestTarget): Segments[] => [
  target.segments,
  ...target.otherReadings,
  ...target.readingsDecodedAgain,
  ...target.earlyReadings,
];

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

const isPlain = (segment: string | undefined): segment is string => segment !== undefined && !isDots(segment);

/**
 * Joins API versions of two segments: `api/v1`, the oldest prefix, and `unstable` with the name of a proposal, which
 * always contains a dot.
 */
export function withApiVersion(segments: Segments): Segments {
  const [root = '', api = '', version, name = ''] = segments;
  const double = version === 'api' || (version === 'unstable' && name.includes('.'));
  return double && root === '_matrix' ? [root, api, `${version}/${name}`, ...segments.slice(4)] : segments;
}
