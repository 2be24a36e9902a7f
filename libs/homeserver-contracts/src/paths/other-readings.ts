/** The segments of a path, as one kind of server reads them. */
export type Segments = readonly string[];

/** Proxies in a row that each decode a path once more. No client escapes anything this often. */
const MAX_DECODINGS = 3;
const ESCAPE = /%[0-9a-f]{2}/i;

/**
 * Characters at which some servers end a path once they are decoded: controls and spaces end a request line or a C
 * string, `?` begins a query, `#` a fragment.
 */
const END = /[\0- ?#\x7f]/;
const ENDS = new RegExp(END, 'g');
/** Controls that parsers of URLs drop. */
const BREAKS = /[\t\n\r]/g;
/** A path of a client has a few of them: the words of a file name, for example. */
const MAX_ENDS = 64;
/** A path of a client has one or two variants, because it is not escaped twice. */
const MAX_VARIANTS = 64;

/**
 * The segments as servers and proxies read them that decode a path before they split it. nginx and Envoy then resolve
 * dot segments, with or without merging slashes first; some take a backslash for a slash.
 */
export function unescapedReadings(segments: Segments): string[][] {
  const splits = [/\//, /[/\\]/].map((slash) => segments.flatMap((segment) => segment.split(slash)));
  return splits.flatMap((split) =>
    split.some(isDots)
      ? [split, resolveDots(split), resolveDots(withoutEmpty(split)), split.filter((segment) => !isDots(segment))]
      : [split],
  );
}

/** What servers may read that decode a path again, or end it early. */
export interface LaterReadings {
  readonly decodedAgain: readonly Segments[];
  /** Paths that may also end at each of `endsIn`. */
  readonly early: readonly Segments[];
}

/**
 * The readings of servers behind proxies that forward a decoded path, and of those that end a decoded path early or
 * drop its line breaks: a regular expression of nginx ignores a last line feed, and a request line with a decoded path
 * ends at its first space. Undefined for a path with too many of them.
 * @param segments decoded once
 */
export function laterReadings(segments: Segments): LaterReadings | undefined {
  const decodedAgain: Segments[] = [];
  const early: Segments[] = [];
  let current = variantsOf([segments]);
  for (let decodings = 0; ; decodings++) {
    if (current.length > MAX_VARIANTS) return undefined;
    if (decodings > 0) decodedAgain.push(...current);
    const ended = current.filter((variant) => variant.some((segment) => END.test(segment)));
    if (ended.some(isUnclear)) return undefined;
    early.push(...ended, ...ended.map(withoutBreaks));
    if (!current.some((variant) => variant.some((segment) => ESCAPE.test(segment)))) break;
    if (decodings === MAX_DECODINGS) return undefined;
    current = variantsOf(current.map((variant) => variant.map(decodeEscapes)));
  }
  return { decodedAgain: decodedAgain.flatMap(readingsOf), early: early.flatMap(readingsOf) };
}

/** Whether a path has too many ends, or hides a dot segment before one. */
const isUnclear = (segments: Segments): boolean =>
  segments.reduce((ends, segment) => ends + endsIn(segment).length, 0) > MAX_ENDS || segments.some(hidesDots);

/** Each path with and without its tabs and line breaks, and split at decoded slashes or not. */
function variantsOf(paths: readonly Segments[]): Segments[] {
  const variants = paths
    .flatMap((path) => [path, withoutBreaks(path)])
    .flatMap((path) => [path, ...unescapedReadings(path)]);
  return [...new Map(variants.map((variant) => [JSON.stringify(variant), variant])).values()];
}

const withoutBreaks = (segments: Segments): string[] => segments.map((segment) => segment.replace(BREAKS, ''));

/** The indexes in a decoded segment at which some servers end the path. */
export const endsIn = (segment: string): number[] => Array.from(segment.matchAll(ENDS), ({ index }) => index);

const hidesDots = (segment: string): boolean =>
  segment
    .split(/[/\\]/)
    .some((part) => isDots(part.split(END, 1)[0] ?? '') || (END.test(part) && isDots(part.replace(BREAKS, ''))));

/** A first empty segment could introduce a host. */
export function readingsOf(segments: Segments): string[][] {
  const path = withoutExtraEmpty(segments);
  return segments[0] === '' ? [path, path.slice(1)] : [path];
}

/**
 * Drops empty segments that cannot be parameters: no path has a parameter before the fourth segment, or more than three
 * in a row.
 */
function withoutExtraEmpty(segments: Segments): string[] {
  const kept: string[] = [];
  for (const segment of segments) {
    const isExtra = kept.length < 4 || kept.slice(-3).every((before) => before === '');
    if (segment !== '' || !isExtra) kept.push(segment);
  }
  return kept;
}

/** Decodes the valid escapes and keeps the others. */
const decodeEscapes = (segment: string): string =>
  segment.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => decode(escapes) ?? escapes);

/** RFC 3986, section 5.2.4. */
function resolveDots(segments: Segments): string[] {
  const kept: string[] = [];
  for (const segment of segments) {
    if (!isDots(segment)) kept.push(segment);
    else if (segment.startsWith('..')) kept.pop();
  }
  if (isDots(segments.at(-1) ?? '')) kept.push('');
  return kept;
}

export const withoutEmpty = (segments: Segments): string[] => segments.filter((segment) => segment !== '');

export function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

/** Envoy also resolves one with parameters, such as `..;x`. */
export const isDots = (segment: string): boolean => /^\.\.?(?:;|$)/.test(segment);
