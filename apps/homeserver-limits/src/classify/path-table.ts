import { type RequestTarget, readTarget, withApiVersion } from './request-target.js';

/** One operation and every path under which servers are known to answer it. */
export interface Route<Operation extends string> {
  readonly operation: Operation;
  readonly methods: readonly string[];
  /** `{v}` is any API version, `:name` a parameter, a last `:name?` may be absent. */
  readonly paths: readonly string[];
  /** Servers look at the beginning of the path only: what comes after it makes no other request of it. */
  readonly openEnded?: boolean;
}

export interface Match<Operation extends string> {
  readonly operation: Operation;
  readonly params: Readonly<Record<string, string>>;
}

export type Classified<Operation extends string> =
  | { readonly kind: 'matched'; readonly match: Match<Operation>; readonly target: RequestTarget }
  | { readonly kind: 'unknown'; readonly target: RequestTarget }
  /** Could be a path of the table to one server and another path to the next. */
  | { readonly kind: 'ambiguous' };

interface Leaf<Operation> {
  readonly operation: Operation;
  readonly openEnded: boolean;
  /** Each parameter's name and which segment it is. */
  readonly names: readonly (readonly [name: string, index: number])[];
}

interface Node<Operation> {
  readonly literals: Map<string, Node<Operation>>;
  version?: Node<Operation>;
  param?: Node<Operation>;
  readonly leaves: Map<string, Leaf<Operation>>;
  /** An operation without an end is here or further on. */
  leadsToOpenEnded: boolean;
  /** The literals from here that end such an operation. */
  readonly openLiterals: string[];
}

const VERSION = /^(?:api\/v[0-9]+|v[0-9]+(?:_alpha)?|r[0-9]+|unstable(?:\/.+)?)$/;

/** Finds the operation that a request asks for, by its decoded segments. */
export class PathTable<Operation extends string> {
  private readonly root = newNode<Operation>();

  constructor(routes: readonly Route<Operation>[]) {
    for (const route of routes) for (const path of route.paths) this.add(route, path);
  }

  classify(method: string, rawTarget: string): Classified<Operation> {
    const target = readTarget(rawTarget);
    if (!target) return { kind: 'ambiguous' };
    const { segments, otherReadings } = target;
    const leaf = findLeaf(this.root, method, segments, 0);
    const match = leaf && matchOf(leaf, segments);
    if (otherReadings.some((reading) => saysOtherwise(this.root, method, reading, 0, [], match))) {
      return { kind: 'ambiguous' };
    }
    if (match) return { kind: 'matched', match, target };
    const isOpenEnded =
      beginsOpenEnded(this.root, method, segments, 0) ||
      otherReadings.some((reading) => beginsOpenEnded(this.root, method, reading, 0));
    return isOpenEnded ? { kind: 'ambiguous' } : { kind: 'unknown', target };
  }

  /** The methods that an unknown request's path does have. */
  methodsOf({ segments }: RequestTarget): string[] {
    return find(this.root, segments, 0).flatMap((node) => [...node.leaves.keys()]);
  }

  private add(route: Omit<Route<Operation>, 'paths'>, path: string): void {
    if (path.endsWith('?')) this.add(route, path.slice(0, path.lastIndexOf('/')));
    const { operation, methods, openEnded = false } = route;
    const names: [string, number][] = [];
    let node = this.root;
    node.leadsToOpenEnded ||= openEnded;
    const segments = withApiVersion(path.replace(/\?$/, '').split('/').slice(1));
    for (const [index, segment] of segments.entries()) {
      if (segment === '{v}') node = node.version ??= newNode();
      else if (segment.startsWith(':')) {
        names.push([segment.slice(1), index]);
        node = node.param ??= newNode();
      } else {
        if (openEnded && index === segments.length - 1) node.openLiterals.push(segment);
        node = childOf(node, segment);
      }
      node.leadsToOpenEnded ||= openEnded;
    }
    for (const method of methods) {
      if (node.leaves.has(method)) throw new Error(`two operations answer ${method} ${path}`);
      node.leaves.set(method, { operation, openEnded, names });
    }
  }
}

function newNode<Operation>(): Node<Operation> {
  return { literals: new Map(), leaves: new Map(), leadsToOpenEnded: false, openLiterals: [] };
}

function childOf<Operation>(node: Node<Operation>, segment: string): Node<Operation> {
  const known = node.literals.get(segment);
  if (known) return known;
  const child = newNode<Operation>();
  node.literals.set(segment, child);
  return child;
}

/** Every place in the table where these segments end, the most literal first. */
function find<Operation>(node: Node<Operation>, segments: readonly string[], at: number): Node<Operation>[] {
  const segment = segments[at];
  if (segment === undefined) return node.leaves.size > 0 ? [node] : [];
  return stepsFrom(node, segment).flatMap((next) => find(next, segments, at + 1));
}

/** Where a segment leads from a place in the table, the most literal first. */
function stepsFrom<Operation>(node: Node<Operation>, segment: string): Node<Operation>[] {
  const version = node.version && VERSION.test(segment) ? node.version : undefined;
  return [node.literals.get(segment), version, node.param].filter((next) => next !== undefined);
}

/**
 * Whether the segments can be read as a request for something that is not the match. An empty segment is nothing, or an
 * empty parameter.
 * @param taken the segments read so far, less those that are nothing
 */
function saysOtherwise<Operation extends string>(
  node: Node<Operation>,
  method: string,
  segments: readonly string[],
  at: number,
  taken: readonly string[],
  match: Match<Operation> | undefined,
): boolean {
  const segment = segments[at];
  if (segment === undefined) {
    const leaf = node.leaves.get(method);
    return leaf !== undefined && !isSame(match, matchOf(leaf, taken));
  }
  if (segment === '' && saysOtherwise(node, method, segments, at + 1, taken, match)) return true;
  const steps = stepsFrom(node, segment);
  if (steps.length === 0) return false;
  const read = [...taken, segment];
  return steps.some((next) => saysOtherwise(next, method, segments, at + 1, read, match));
}

/** Whether an operation without an end is on a way that these segments can go. */
function beginsOpenEnded<Operation>(
  node: Node<Operation>,
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
  if (node.version && VERSION.test(segment) && beginsOpenEnded(node.version, method, segments, at + 1)) return true;
  if (segment === '' && beginsOpenEnded(node, method, segments, at + 1)) return true;
  return node.openLiterals.some((end) => segment.startsWith(end));
}

/** The operation at the most literal of these places that takes the method. */
function findLeaf<Operation>(
  node: Node<Operation>,
  method: string,
  segments: readonly string[],
  at: number,
): Leaf<Operation> | undefined {
  const segment = segments[at];
  if (segment === undefined) return node.leaves.get(method);
  const literal = node.literals.get(segment);
  const found = literal && findLeaf(literal, method, segments, at + 1);
  if (found) return found;
  const version = node.version && VERSION.test(segment) ? findLeaf(node.version, method, segments, at + 1) : undefined;
  return version ?? (node.param && findLeaf(node.param, method, segments, at + 1));
}

function matchOf<Operation extends string>(leaf: Leaf<Operation>, segments: readonly string[]): Match<Operation> {
  const params: Record<string, string> = {};
  for (const [name, index] of leaf.names) params[name] = segments[index] ?? '';
  return { operation: leaf.operation, params };
}

/** The same request; a parameter that is absent and one that is empty are one. */
function isSame<Operation extends string>(a: Match<Operation> | undefined, b: Match<Operation>): boolean {
  if (a?.operation !== b.operation) return false;
  const names = new Set([...Object.keys(a.params), ...Object.keys(b.params)]);
  return [...names].every((name) => (a.params[name] ?? '') === (b.params[name] ?? ''));
}
