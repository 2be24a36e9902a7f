import { DomainError, type Clock } from '@headgate/domain-contracts';
import { isApiNotServed } from '../api/kube-api-error.js';
import type { KubeApi } from '../api/kube-api.js';
import { KUBEVIRTS } from '../api/resources.js';
import { ClusterFacts, type ApiGroups, type KubevirtObject } from './cluster-facts.js';

/** How long facts are cached: an installation of CDI shows within a minute. */
const FACTS_TTL_MS = 60_000;

/** Discovers the components of a cluster and caches the result. */
export class ClusterDiscovery {
  private pending: Promise<ClusterFacts> | undefined;
  private requestedAt = Number.NEGATIVE_INFINITY;
  private last: ClusterFacts | undefined;

  constructor(
    private readonly api: KubeApi,
    private readonly clock: Clock,
  ) {}

  /** The last known facts, without a request. */
  get latest(): ClusterFacts | undefined {
    return this.last;
  }

  /** @throws DomainError BACKEND_UNREACHABLE */
  facts(): Promise<ClusterFacts> {
    if (this.pending && this.clock.now() - this.requestedAt < FACTS_TTL_MS) return this.pending;
    return this.refresh();
  }

  refresh(): Promise<ClusterFacts> {
    const pending = this.discover();
    this.requestedAt = this.clock.now();
    this.pending = pending;
    pending.catch(() => {
      if (this.pending === pending) this.pending = undefined;
    });
    return pending;
  }

  private async discover(): Promise<ClusterFacts> {
    const [groups, kubevirt] = await Promise.all([this.api.json<ApiGroups>('GET', '/apis'), this.kubevirt()]);
    this.last = new ClusterFacts(groups, kubevirt);
    return this.last;
  }

  private async kubevirt(): Promise<KubevirtObject | undefined> {
    try {
      return (await this.api.list<KubevirtObject>(KUBEVIRTS))[0];
    } catch (error) {
      if (isApiNotServed(error) || DomainError.is(error, 'BACKEND_FORBIDDEN')) return undefined;
      throw error;
    }
  }
}
