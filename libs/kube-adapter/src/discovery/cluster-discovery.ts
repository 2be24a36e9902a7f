import type { Clock } from '@headgate/domain-contracts';
import type { KubeApi } from '../api/kube-api.js';
import { isAbsentApi } from '../api/kube-api-error.js';
import { KUBEVIRTS } from '../api/resources.js';
import { DomainError } from '@headgate/domain-contracts';
import { ClusterFacts, type ApiGroups, type KubevirtObject } from './cluster-facts.js';

/** How long facts are believed: installing CDI shows within a minute. */
const BELIEVED_MS = 60_000;

/** Asks the cluster what it consists of, and remembers it for a while. */
export class ClusterDiscovery {
  private asked: Promise<ClusterFacts> | undefined;
  private askedAt = Number.NEGATIVE_INFINITY;
  private latest: ClusterFacts | undefined;

  constructor(
    private readonly api: KubeApi,
    private readonly clock: Clock,
  ) {}

  /** The last facts that were found, without asking. */
  get known(): ClusterFacts | undefined {
    return this.latest;
  }

  /** @throws DomainError BACKEND_UNREACHABLE */
  facts(): Promise<ClusterFacts> {
    if (this.asked && this.clock.now() - this.askedAt < BELIEVED_MS) return this.asked;
    return this.refresh();
  }

  refresh(): Promise<ClusterFacts> {
    const asked = this.ask();
    this.askedAt = this.clock.now();
    this.asked = asked;
    asked.catch(() => {
      if (this.asked === asked) this.asked = undefined;
    });
    return asked;
  }

  private async ask(): Promise<ClusterFacts> {
    const [groups, kubevirt] = await Promise.all([this.api.json<ApiGroups>('GET', '/apis'), this.kubevirt()]);
    this.latest = new ClusterFacts(groups, kubevirt);
    return this.latest;
  }

  private async kubevirt(): Promise<KubevirtObject | undefined> {
    try {
      return (await this.api.list<KubevirtObject>(KUBEVIRTS))[0];
    } catch (error) {
      if (isAbsentApi(error) || DomainError.is(error, 'BACKEND_FORBIDDEN')) return undefined;
      throw error;
    }
  }
}
