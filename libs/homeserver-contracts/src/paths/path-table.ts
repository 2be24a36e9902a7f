import { type Match, matchOf } from './match.js';
import { beginsOpenEnded, childOf, find, findLeaf, newNode, hasConflictingMatch } from './path-node.js';
import { type RequestTarget, readTarget, withApiVersion } from './request-target.js';

/** One operation and every path that known servers have for it. */
export interface Route<Operation extends string> {
  readonly operation: Operation;
  readonly methods: readonly string[];
  /** `{v}` is any API version, `:name` a parameter; a last `:name?` is optional. */
  readonly paths: readonly string[];
  /** Some servers match the beginning of the path only, so anything may follow it. */
  readonly openEnded?: boolean;
}

export type Classified<Operation extends string> =
  | { readonly kind: 'matched'; readonly match: Match<Operation>; readonly target: RequestTarget }
  | { readonly kind: 'unknown'; readonly target: RequestTarget }
  /** Servers could disagree on whether the path is in the table. */
  | { readonly kind: 'ambiguous' };

/** Finds the operation of a request by its decoded path segments. */
export class PathTable<Operation extends string> {
  private readonly root = newNode<Operation>();

  constructor(routes: readonly Route<Operation>[]) {
    for (const route of routes) for (const path of route.paths) this.add(route, path);
  }

  classify(method: string, rawTarget: string): Classified<Operation> {
    const target = readTarget(rawTarget);
    if (!target) return { kind: 'ambiguous' };
    const { segments, otherReadings, readingsDecodedAgain, earlyReadings } = target;
    const leaf = findLeaf(this.root, method, segments, 0);
    const match = leaf && matchOf(leaf, segments);
    const readings = [...otherReadings, ...readingsDecodedAgain, ...earlyReadings];
    if (match && readings.length === 0) return { kind: 'matched', match, target };
    if (otherReadings.some((segments) => hasConflictingMatch(this.root, { method, segments, match }))) {
      return { kind: 'ambiguous' };
    }
    // Parameters may contain escapes, such as those of a URL. Only the type of an event decides on bounds.
    const same = ['eventType'];
    if (
      readingsDecodedAgain.some((reading) => hasConflictingMatch(this.root, { method, segments: reading, match, same }))
    ) {
      return { kind: 'ambiguous' };
    }
    if (
      earlyReadings.some((segments) =>
        hasConflictingMatch(this.root, { method, segments, match, same: ['eventType', 'roomId'], mayEnd: true }),
      )
    ) {
      return { kind: 'ambiguous' };
    }
    if (match) return { kind: 'matched', match, target };
    const isOpenEnded = [segments, ...readings].some((reading) => beginsOpenEnded(this.root, method, reading, 0));
    return isOpenEnded ? { kind: 'ambiguous' } : { kind: 'unknown', target };
  }

  /** The methods of an unknown request's path. */
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
        if (openEnded && index === segments.length - 1) {
          for (const method of methods)
            node.openLiterals.set(method, [...(node.openLiterals.get(method) ?? []), segment]);
        }
        node = childOf(node, segment);
      }
      node.leadsToOpenEnded ||= openEnded;
    }
    for (const method of methods) {
      if (node.leaves.has(method)) throw new Error(`two operations match ${method} ${path}`);
      node.leaves.set(method, { operation, openEnded, names });
    }
  }
}
