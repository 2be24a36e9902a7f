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
  /** No path of the table; `allowed` says that the path is there and only the method is not. */
  | { readonly kind: 'unknown'; readonly allowed: readonly string[]; readonly target: RequestTarget }
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
    if (otherReadings.some((reading) => this.saysOtherwise(match, method, reading))) return { kind: 'ambiguous' };
    if (match) return { kind: 'matched', match, target };
    if ([segments, ...otherReadings].some((reading) => beginsOpenEnded(this.root, method, reading, 0))) {
      return { kind: 'ambiguous' };
    }
    const nodes = find(this.root, segments, 0);
    return { kind: 'unknown', allowed: nodes.flatMap((node) => [...node.leaves.keys()]), target };
  }

  /** Read in this way the request asks for something, and not for what we take it for. */
  private saysOtherwise(match: Match<Operation> | undefined, method: string, segments: readonly string[]): boolean {
    return [...readings(this.root, method, segments, 0, [])].some((reading) => !isSame(match, reading));
  }

  private add(route: Omit<Route<Operation>, 'paths'>, path: string): void {
    if (path.endsWith('?')) this.add(route, path.slice(0, path.lastIndexOf('/')));
    const { operation, methods, openEnded = false } = route;
    const names: [string, number][] = [];
    let node = this.root;
    for (const [index, segment] of withApiVersion(path.replace(/\?$/, '').split('/').slice(1)).entries()) {
      if (segment === '{v}') node = node.version ??= newNode();
      else if (segment.startsWith(':')) {
        names.push([segment.slice(1), index]);
        node = node.param ??= newNode();
      } else node = childOf(node, segment);
    }
    for (const method of methods) {
      if (node.leaves.has(method)) throw new Error(`two operations answer ${method} ${path}`);
      node.leaves.set(method, { operation, openEnded, names });
    }
  }
}

function newNode<Operation>(): Node<Operation> {
  return { literals: new Map(), leaves: new Map() };
}

function childOf<Operation>(node: Node<Operation>, segment: string): Node<Operation> {
  const known = node.literals.get(segment);
  if (known) return known;
  const child = newNode<Operation>();
  node.literals.set(segment, child);
  return child;
}

/** Where a segment leads from a place in the table, the most literal first. */
function* stepsFrom<Operation>(node: Node<Operation>, segment: string): Generator<Node<Operation>> {
  const literal = node.literals.get(segment);
  if (literal) yield literal;
  if (node.version && VERSION.test(segment)) yield node.version;
  if (node.param) yield node.param;
}

/** Every place in the table where these segments end, the most literal first. */
function find<Operation>(node: Node<Operation>, segments: readonly string[], at: number): Node<Operation>[] {
  const segment = segments[at];
  if (segment === undefined) return node.leaves.size > 0 ? [node] : [];
  return [...stepsFrom(node, segment)].flatMap((next) => find(next, segments, at + 1));
}

/** Everything that these segments can ask for. An empty one is nothing, or an empty parameter. */
function* readings<Operation extends string>(
  node: Node<Operation>,
  method: string,
  segments: readonly string[],
  at: number,
  taken: readonly string[],
): Generator<Match<Operation>> {
  const segment = segments[at];
  if (segment === undefined) {
    const leaf = node.leaves.get(method);
    if (leaf) yield matchOf(leaf, taken);
    return;
  }
  if (segment === '') yield* readings(node, method, segments, at + 1, taken);
  for (const next of stepsFrom(node, segment)) yield* readings(next, method, segments, at + 1, [...taken, segment]);
}

/** Whether an operation without an end is on a way that these segments can go. */
function beginsOpenEnded<Operation>(
  node: Node<Operation>,
  method: string,
  segments: readonly string[],
  at: number,
): boolean {
  if (node.leaves.get(method)?.openEnded === true) return true;
  const segment = segments[at];
  if (segment === undefined) return false;
  if (segment === '' && beginsOpenEnded(node, method, segments, at + 1)) return true;
  return (
    [...stepsFrom(node, segment)].some((next) => beginsOpenEnded(next, method, segments, at + 1)) ||
    [...node.literals].some(
      ([literal, next]) => segment.startsWith(literal) && next.leaves.get(method)?.openEnded === true,
    )
  );
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
