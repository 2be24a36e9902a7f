/** A bounded request and a mutation of its target, with the random numbers of the run. */
export interface MutatedTarget {
  readonly method: string;
  readonly target: string;
  /** A pseudo-random number below n. */
  readonly random: (n: number) => number;
}

const SEEDS: readonly (readonly [method: string, target: string])[] = [
  ['POST', '/_matrix/client/api/v1/login'],
  ['POST', '/_matrix/client/v3/login'],
  ['POST', '/_matrix/client/v3/register'],
  ['POST', '/_matrix/media/v3/upload'],
  ['PUT', '/_matrix/client/v3/rooms/!r:b/send/m.rtc.notification/1'],
  ['POST', '/_matrix/client/r0/rooms/!r:b/send/m.rtc.notification'],
  ['POST', '/_matrix/client/unstable/org.matrix.msc4140/rooms/!r:b/delayed_event/m.x'],
  ['POST', '/_matrix/client/v3/user/@a:b/openid/request_token'],
  ['PUT', '/_matrix/client/v3/user/@a:b/rooms/!r:b/account_data/t'],
  ['PUT', '/_matrix/media/v3/upload/b/c'],
  ['PUT', '/_matrix/federation/v1/send/t1'],
];

/** Pieces that readers disagree on: slashes, dot segments, controls, ends of a path, and escapes of all of them. */
const PIECES = [
  ...['/', '//', '/.', '/..', '\\', '?', '#', '%', ';x', '/x', 'x', '//h'],
  ...['%2F', '%2f', '%2f.%2f', '..%2f', '%2f%2e%2e', '/x%2f..%2F', '%2e', '%2E%2e', '%5C', '%5c..%5c'],
  ...['%00', '%09', '%0a', '%0A', '%0d', '%0d%0a', '%1f', '%20', '%7f', '%3f', '%3Fx', '%23', '%23x', '%3b'],
  ...['%0a/x', '%20HTTP/1.1', '%20HTTP%2f1.1%0d%0a', '%3f/../', '%23%2f..%2f', '%0a%2f..%2fx'],
  ...['%25', '%252F', '%250a', '%253f', '%2523', '%2520', '%25250a', '%252e%252e', '%2525'],
  ...['%c0%af', '%c2%a0', '%E2%80%A8', '%ff'],
];

/** Pieces with characters that should have been escaped, as bytes: some servers then escape the whole path again. */
export const UNESCAPED_PIECES = [...PIECES, '"', '"%2f', '%2F"', '<', '^', '|x', '`', '{', '\xe9', '\xc3\xa9'];

/**
 * Requests for bounded operations whose targets were changed in one to three places. The sequence is the same in every
 * run.
 */
export function* targets(count: number, seed = 1, pieces: readonly string[] = PIECES): Generator<MutatedTarget> {
  let state = seed;
  const random = (n: number): number => ((state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) >>> 8) % n;
  const mutated = (target: string): string => {
    // Most readers differ at the end of a path.
    const at = random(3) ? random(target.length) : target.length;
    const [before, after] = [target.slice(0, at), target.slice(at)];
    const slash = before.lastIndexOf('/');
    switch (after === '' ? 0 : random(5)) {
      case 0:
        return before + pieces[random(pieces.length)] + after;
      case 1:
        return `${before}%${hexOf(after)}${after.slice(1)}`;
      case 2:
        return `${before}%25${hexOf(after)}${after.slice(1)}`;
      case 3:
        return before.slice(0, slash + 1) + after;
      default:
        return before.slice(0, Math.max(slash, 0)) + pieces[random(pieces.length)] + before.slice(slash + 1) + after;
    }
  };
  for (let index = 0; index < count; index++) {
    const [method, target] = SEEDS[index % SEEDS.length]!;
    let changed = mutated(target);
    for (let more = random(3); more > 0; more--) changed = mutated(changed);
    yield { method, target: changed, random };
  }
}

const hexOf = (text: string): string => text.charCodeAt(0).toString(16).padStart(2, '0');
