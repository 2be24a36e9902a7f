import { type RequestTarget, readTarget } from './request-target.js';

/** One operation and every path under which servers are known to answer it. */
export interface Route<Operation extends string> {
  readonly operation: Operation;
  readonly methods: readonly string[];
  /** `{v}` is any API version, `:name` a parameter, a last `:name?` may be absent. */
  readonly paths: readonly string[];
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
  /** Each parameter's name and which segment it is. */
  readonly names: readonly (readonly [name: string, index: number])[];
}

interface Node<Operation> {
  readonly literals: Map<string, Node<Operation>>;
  version?: Node<Operation>;
  param?: Node<Operation>;
  readonly leaves: Map<string, Leaf<Operation>>;
}

const VERSION = /^(?:api\/v[0-9]+|v[0-9]+(?:_alpha)?|r[0-9]+|unstable)$/;

/** Finds the operation that a request asks for, by its decoded segments. */
export class PathTable<Operation extends string> {
  private readonly root = newNode<Operation>();

  constructor(routes: readonly Route<Operation>[]) {
    for (const route of routes) for (const path of route.paths) this.add(route, path);
  }

  classify(method: string, rawTarget: string): Classified<Operation> {
    const target = readTarget(rawTarget);
    if (!target) return { kind: 'ambiguous' };
    if (target.lateSegments && find(this.root, target.lateSegments, 0).length > 0) return { kind: 'ambiguous' };
    const leaf = findLeaf(this.root, method, target.segments, 0);
    if (leaf) return { kind: 'matched', match: matchOf(leaf, target.segments), target };
    const nodes = find(this.root, target.segments, 0);
    return { kind: 'unknown', allowed: nodes.flatMap((node) => [...node.leaves.keys()]), target };
  }

  private add({ operation, methods }: Pick<Route<Operation>, 'operation' | 'methods'>, path: string): void {
    if (path.endsWith('?')) this.add({ operation, methods }, path.slice(0, path.lastIndexOf('/')));
    const names: [string, number][] = [];
    let node = this.root;
    for (const [index, segment] of path.replace(/\?$/, '').split('/').slice(1).entries()) {
      if (segment === '{v}') node = node.version ??= newNode();
      else if (segment.startsWith(':')) {
        names.push([segment.slice(1), index]);
        node = node.param ??= newNode();
      } else node = childOf(node, segment);
    }
    for (const method of methods) {
      if (node.leaves.has(method)) throw new Error(`two operations answer ${method} ${path}`);
      node.leaves.set(method, { operation, names });
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

/** Every place in the table where these segments end, the most literal first. */
function find<Operation>(node: Node<Operation>, segments: readonly string[], at: number): Node<Operation>[] {
  const segment = segments[at];
  if (segment === undefined) return node.leaves.size > 0 ? [node] : [];
  const found: Node<Operation>[] = [];
  const literal = node.literals.get(segment);
  if (literal) found.push(...find(literal, segments, at + 1));
  if (node.version && VERSION.test(segment)) found.push(...find(node.version, segments, at + 1));
  if (node.param) found.push(...find(node.param, segments, at + 1));
  return found;
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
