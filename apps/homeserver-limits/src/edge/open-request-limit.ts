import { LiveConfig } from '../config/live-config.js';
import { boundsRequests } from '../config/server.section.js';
import type { LimitsMetrics } from '../metrics/limits-metrics.js';
import type { RefusalLog } from '../reports/refusal-log.js';
import type { Rules } from '../rules/rules.js';
import { RequestLimit } from './request-limit.js';

/** The bound of the configuration; undefined if it has none. */
export function openRequestLimit(
  config: LiveConfig,
  rules: Rules,
  metrics: LimitsMetrics,
  refusals: RefusalLog,
): RequestLimit | undefined {
  const { server } = config.current;
  if (!boundsRequests(server)) return undefined;
  const limits = {
    concurrent_requests: server.concurrent_requests_per_source,
    concurrent_polls: server.concurrent_polls_per_source,
  };
  metrics.declareRules(Object.entries(limits).flatMap(([name, limit]) => (limit === undefined ? [] : [name])));
  return new RequestLimit({
    limits,
    isShadow: (name) => config.current.ratelimit.shadow.includes(name),
    isExempt: (caller) => !config.current.ratelimit.enabled || rules.isExempt(caller),
    onGranted: (name) => metrics.watch(name, 'granted'),
    onRefused: (name, refused, isShadow) => {
      metrics.watch(name, isShadow ? 'shadow_refused' : 'refused');
      refusals.concurrent(name, refused, isShadow);
    },
  });
}
