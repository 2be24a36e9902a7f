import type { UserInfo } from '../admission.js';
import { resourceName } from '../kube-object.js';
import { matchesRequest, type RequestMatcher } from '../requests/request-matcher.js';
import type { RequestInfo } from '../requests/request-info.js';

interface Counted {
  info: RequestInfo;
  user: UserInfo;
}

/** Counts requests, so that a test can prove that a client sent none. */
export class RequestCounter {
  private readonly counts = new Map<string, { sample: Counted; count: number }>();
  private sum = 0;

  /** The number of all requests; a reset does not change it. */
  get total(): number {
    return this.sum;
  }

  add(info: RequestInfo, user: UserInfo): void {
    this.sum++;
    const id = [
      user.username,
      info.verb,
      info.group,
      info.resource,
      info.subresource.join('/'),
      info.namespace,
      info.name,
      info.resource ? '' : info.path,
    ].join('\n');
    const entry = this.counts.get(id);
    if (entry) entry.count++;
    else this.counts.set(id, { sample: { info, user }, count: 1 });
  }

  /** The number of matching requests since the last reset; without a matcher, of all requests. */
  count(matcher: RequestMatcher = {}): number {
    return [...this.counts.values()]
      .filter(({ sample }) => matchesRequest(matcher, sample.info, sample.user))
      .reduce((sum, { count }) => sum + count, 0);
  }

  /** The number of requests per verb and resource: `list pods` → 2, `get /version` → 1. */
  summary(): Record<string, number> {
    const summary: Record<string, number> = {};
    for (const { sample, count } of this.counts.values()) {
      const { verb, group, resource, subresource, path } = sample.info;
      const target = resource ? [resourceName(group, resource), ...subresource].join('/') : path;
      summary[`${verb} ${target}`] = (summary[`${verb} ${target}`] ?? 0) + count;
    }
    return summary;
  }

  reset(): void {
    this.counts.clear();
  }
}
