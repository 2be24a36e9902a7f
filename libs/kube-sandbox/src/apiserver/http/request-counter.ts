import type { UserInfo } from '../admission.js';
import { resourceName } from '../kube-object.js';
import { matchesRequest, type RequestMatcher } from './request-matcher.js';
import type { RequestInfo } from './request-info.js';

interface Counted {
  info: RequestInfo;
  user: UserInfo;
}

/** Counts what clients ask, so that a test can prove what was not asked. */
export class RequestCounter {
  private readonly counts = new Map<string, { sample: Counted; count: number }>();

  add(info: RequestInfo, user: UserInfo): void {
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

  /** Requests since the last reset that fit the matcher; all of them without one. */
  count(matcher: RequestMatcher = {}): number {
    return [...this.counts.values()]
      .filter(({ sample }) => matchesRequest(matcher, sample.info, sample.user))
      .reduce((sum, { count }) => sum + count, 0);
  }

  /** How often each verb and resource was asked: `list virtualmachines.kubevirt.io` → 2, `get /version` → 1. */
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
