import { faultOf, may, readerGrant } from '@headgate/access';
import { ConfigError } from '@headgate/nest-kit';
import type { Route } from './routes.js';

const READS: readonly string[] = ['GET', 'HEAD', 'SOCKET'];

/**
 * Refuses an application with a route whose need is missing, unknown, or too little for what it does.
 * @throws ConfigError one sentence about the first such route
 */
export function expectNeeds(routes: readonly Route[]): void {
  for (const route of routes) {
    const fault = faultOfRoute(route);
    if (fault === undefined) continue;
    throw new ConfigError(`${route.method} ${route.path} of ${route.handler}`, [fault]);
  }
}

function faultOfRoute({ method, path, need }: Route): string | undefined {
  if (need === undefined) return 'it states no need; add @Needs next to @Describe';
  const fault = faultOf(need);
  if (fault !== undefined) return fault;
  if (need.of === 'instance' && need.at === 'path') {
    if (!path.includes('/:ns/:name')) return 'it needs the instance of its path, which names none with :ns and :name';
    if (need.kind === undefined && method !== 'SOCKET')
      return 'it needs an instance of the path of any kind; use vm or ct';
  }
  // While there is an allowlist, other users may only read, change their own objects, and log in.
  if (need.of !== 'own' && need.of !== 'visitor' && !READS.includes(method) && may(readerGrant(''), need))
    return 'it may change something, but its need allows it to every reader';
  return undefined;
}
