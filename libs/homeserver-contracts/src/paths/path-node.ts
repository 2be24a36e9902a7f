import { isSame, type Leaf, type Match, matchOf } from './match.js';
import { endsIn } from './other-readings.js';

/** A node of the table: a prefix of paths. */
export interface PathNode<Operation> {
  readonly literals: Map<string, PathNode<Operation>>;
  version?: PathNode<Operation>;
  param?: PathNode<Operation>;
  readonly leaves: Map<string, Leaf<Operation>>;
  /** This node or a descendant has an open-ended operation. */
  leadsToOpenEnded: boolean;
  /** The literals from here that end an open-ended operation, by its methods. */
  readonly openLiterals: Map<string, string[]>;
}

const VERSION = /^(?:api\/v[0-9]+|v[0-9]+(?:_alpha)?|r[0-9]+|unstable(?:\/.+)?)$/;

/** The usual version is recognized without the expression. */
const isVersion = (segment: string): boolean => segment === 'v3' || segment === 'v1' || VERSION.test(segment);

export function newNode<Operation>(): PathNode<Operation> {
  return { literals: new Map(), leaves: new Map(), leadsToOpenEnded: false, openLiterals: new Map() };
}

export function childOf<Operation>(node: PathNode<Operation>, segment: string): PathNode<Operation> {
  const known = node.literals.get(segment);
  if (known) return known;
  const child = newNode<Operation>();
  node.literals.set(segment, child);
  return child;
}

/** Every node where these segments end, the most literal first. */
export function find<Operation>(
  node: PathNode<Operation>,
  segments: readonly string[],
  at: number,
): PathNode<Operation>[] {
  const segment = segments[at];
  if (segment === undefined) return node.leaves.size > 0 ? [node] : [];
  return stepsFrom(node, segment).flatMap((next) => find(next, segments, at + 1));
}

/** The nodes that a segment leads to, the most literal first. */
function stepsFrom<Operation>(node: PathNode<Operation>, segment: string): PathNode<Operation>[] {
  const version = node.version && isVersion(segment) ? node.version : undefined;
  return [node.literals.get(segment), version, node.param].filter((next) => next !== undefined);
}

/** One way to read a request, and the match of another way. */
export interface Reading<Operation extends string> {
  readonly method: string;
  readonly segments: readonly string[];
  readonly match: Match<Operation> | undefined;
  /** The names of the parameters in which the two must not differ; all when left out. */
  readonly same?: readonly string[];
  /** Whether the path may also end within a segment. */
  readonly mayEnd?: boolean;
}

/**
 * Whether a reading is a request that differs from the match. An empty segment is either dropped or read as an empty
 * parameter.
 * @param at the index of the next segment
 * @param taken the segments read so far, without the dropped ones
 */
export function hasConflictingMatch<Operation extends string>(
  node: PathNode<Operation>,
  reading: Reading<Operation>,
  at = 0,
  taken: readonly string[] = [],
): boolean {
  const segment = reading.segments[at];
  if (segment === undefined) return conflicts(node, reading, taken);
  if (reading.mayEnd && endsInConflict(node, reading, segment, taken)) return true;
  if (segment === '' && hasConflictingMatch(node, reading, at + 1, taken)) return true;
  const steps = stepsFrom(node, segment);
  if (steps.length === 0) return false;
  const read = [...taken, segment];
  return steps.some((next) => hasConflictingMatch(next, reading, at + 1, read));
}

function conflicts<Operation extends string>(
  { leaves }: PathNode<Operation>,
  { method, match, same }: Reading<Operation>,
  taken: readonly string[],
): boolean {
  const leaf = leaves.get(method);
  return leaf !== undefined && !isSame(match, matchOf(leaf, taken), same);
}

/** An empty last parameter names nothing: `/join/#alias` that ends at its `#` is no other request. */
function endsInConflict<Operation extends string>(
  node: PathNode<Operation>,
  reading: Reading<Operation>,
  segment: string,
  taken: readonly string[],
): boolean {
  return endsIn(segment).some((index) => {
    if (index === 0 && conflicts(node, reading, taken)) return true;
    const last = segment.slice(0, index);
    const read = last === '' ? { ...reading, same: [] } : reading;
    return stepsFrom(node, last).some((next) => conflicts(next, read, [...taken, last]));
  });
}

/** Whether a prefix of these segments matches an open-ended operation. */
export function beginsOpenEnded<Operation>(
  node: PathNode<Operation>,
  method: string,
  segments: readonly string[],
  at: number,
): boolean {
  if (!node.leadsToOpenEnded) return false;
  if (node.leaves.get(method)?.openEnded === true) return true;
  const segment = segments[at];
  if (segment === undefined) return false;
  const literal = node.literals.get(segment);
  if (literal && beginsOpenEnded(literal, method, segments, at + 1)) return true;
  if (node.param && beginsOpenEnded(node.param, method, segments, at + 1)) return true;
  if (node.version && isVersion(segment) && beginsOpenEnded(node.version, method, segments, at + 1)) return true;
  if (segment === '' && beginsOpenEnded(node, method, segments, at + 1)) return true;
  return node.openLiterals.get(method)?.some((end) => segment.startsWith(end)) ?? false;
}

/** The operation of the most literal node that has the method. */
export function findLeaf<Operation>(
  node: PathNode<Operation>,
  method: string,
  segments: readonly string[],
  at: number,
): Leaf<Operation> | undefined {
  const segment = segments[at];
  if (segment === undefined) return node.leaves.get(method);
  const literal = node.literals.get(segment);
  const found = literal && findLeaf(literal, method, segments, at + 1);
  if (found) return found;
  const version = node.version && isVersion(segment) ? findLeaf(node.version, method, segments, at + 1) : undefined;
  return version ?? (node.param && findLeaf(node.param, method, segments, at + 1));
}
