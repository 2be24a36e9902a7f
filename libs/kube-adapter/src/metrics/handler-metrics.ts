import { DomainError, messageOf, runConcurrently, type Clock } from '@headgate/domain-contracts';
import type { KubeApi } from '../api/kube-api.js';
import type { KubeObject } from '../api/kube-object.js';
import { pathOf, PODS } from '../api/resources.js';
import type { ClusterFacts } from '../discovery/cluster-facts.js';
import { LineSplitter } from '../watch/read-lines.js';
import { TrafficSums, type GuestTraffic } from './guest-traffic.js';

interface HandlerPod extends KubeObject {
  readonly spec?: { readonly nodeName?: string };
  readonly status?: { readonly phase?: string };
}

/** The counters of the VMs on each node, by `namespace/name`. */
export type TrafficByNode = ReadonlyMap<string, ReadonlyMap<string, GuestTraffic>>;

export interface HandlerMetricsDeps {
  readonly api: Pick<KubeApi, 'list' | 'stream'>;
  readonly discovery: { facts(): Promise<Pick<ClusterFacts, 'kubevirt'>> };
  readonly clock: Clock;
}

interface Refusal {
  readonly reason: string;
  /** No request is sent before this time. */
  readonly until: number;
}

const HANDLERS = 'kubevirt.io=virt-handler';
const PORT = 8443;
/** For all handlers together, so that CPU and memory do not wait longer for them. */
const DEADLINE_MS = 5000;
/** The pause after a failure. */
const PAUSE_MS = 60_000;
const CONCURRENT = 8;
/** Many times the answer of a node that is full of VMs. */
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_LINE_BYTES = 256 * 1024;
const MAX_REFUSAL_BYTES = 64 * 1024;
/** Names the format, because others are negotiated. */
const ACCEPT = 'text/plain;version=0.0.4';

/**
 * The disk and network counters of VMs from the Prometheus endpoints of virt-handler, through the proxy of the API
 * server, which does not check the certificates of pods. Nothing here fails: where the counters can't be read they are
 * unknown, and `problem` is the reason.
 */
export class HandlerMetrics {
  /** A failure that concerns all handlers. */
  private general: Refusal | undefined;
  /** Failures of single handlers, by their nodes. */
  private readonly refusals = new Map<string, Refusal>();
  private isReading = false;

  constructor(private readonly deps: HandlerMetricsDeps) {}

  /** Why counters were unknown at the last reading, a sentence; undefined if they were not. */
  get problem(): string | undefined {
    if (this.general) return this.general.reason;
    const [first] = this.refusals.values();
    const others = this.refusals.size - 1;
    return first && `${first.reason}${others > 0 ? ` So it is on ${others} more node(s).` : ''}`;
  }

  /** @param nodes those with running VMs; the handlers of others are not asked */
  async read(nodes: ReadonlySet<string>): Promise<TrafficByNode> {
    const traffic = new Map<string, ReadonlyMap<string, GuestTraffic>>();
    for (const node of this.refusals.keys()) if (!nodes.has(node)) this.refusals.delete(node);
    if (nodes.size === 0 || this.isReading || this.isPaused(this.general)) return traffic;
    const { clock } = this.deps;
    const deadline = new AbortController();
    this.isReading = true;
    const work = this.readAll(nodes, deadline.signal, traffic)
      .then(() => (this.general = undefined))
      .catch((error: unknown) => (this.general = this.refusal(error, deadline.signal)))
      .finally(() => (this.isReading = false));
    await new Promise<void>((resolve) => {
      const cancel = clock.after(DEADLINE_MS, () => {
        deadline.abort();
        resolve();
      });
      void work.finally(() => {
        cancel();
        resolve();
      });
    });
    // Answers that arrive later must not change a reading.
    return new Map(traffic);
  }

  private async readAll(
    nodes: ReadonlySet<string>,
    signal: AbortSignal,
    traffic: Map<string, ReadonlyMap<string, GuestTraffic>>,
  ): Promise<void> {
    const namespace = await this.namespace();
    const handlers = await this.handlers(namespace, signal);
    const due = [...nodes].filter((node) => !this.isPaused(this.refusals.get(node)));
    await runConcurrently(due, CONCURRENT, async (node) => {
      try {
        const name = handlers.get(node);
        if (name === undefined) throw new Error('no virt-handler is running there');
        traffic.set(node, await this.readOne({ namespace, name }, signal));
        this.refusals.delete(node);
      } catch (error) {
        // The permission is the same for all handlers.
        if (DomainError.is(error, 'BACKEND_FORBIDDEN')) throw error;
        const { reason, until } = this.refusal(error, signal);
        this.refusals.set(node, { reason: `virt-handler on ${node} can't be read: ${reason}`, until });
      }
    });
  }

  private async namespace(): Promise<string> {
    const { kubevirt } = await this.deps.discovery.facts();
    const namespace = kubevirt?.metadata.namespace;
    if (!namespace)
      throw new Error('the account may not list kubevirts.kubevirt.io, which has the namespace of KubeVirt');
    return namespace;
  }

  /** The names of the running pods of virt-handler, by their nodes. */
  private async handlers(namespace: string, signal: AbortSignal): Promise<Map<string, string>> {
    const pods = await this.deps.api.list<HandlerPod>(PODS, { namespace, labelSelector: HANDLERS, signal });
    const running = pods.filter(({ status, metadata }) => status?.phase === 'Running' && !metadata.deletionTimestamp);
    return new Map(running.map(({ spec, metadata }) => [spec?.nodeName ?? '', metadata.name ?? '']));
  }

  /** @throws unless the answer is complete: the sum of a part of the disks would count backward */
  private async readOne(
    { namespace, name }: { readonly namespace: string; readonly name: string },
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, GuestTraffic>> {
    const path = pathOf(PODS, { namespace, name: `https:${name}:${PORT}`, subresource: 'proxy/metrics' });
    const headers = { Accept: ACCEPT };
    const options = { headers, signal, timeoutMs: DEADLINE_MS, maxBytes: MAX_REFUSAL_BYTES, retry: false };
    const answer = await this.deps.api.stream(path, options);
    const sums = new TrafficSums();
    const lines = new LineSplitter(MAX_LINE_BYTES);
    let bytes = 0;
    try {
      for await (const chunk of answer as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > MAX_BYTES) throw new Error('the answer is too long');
        for (const line of lines.push(chunk)) sums.add(line);
      }
    } finally {
      answer.destroy();
    }
    if (bytes === 0 || !lines.isAtLineEnd) throw new Error('the answer is not complete');
    return sums.result();
  }

  private isPaused(refusal: Refusal | undefined): boolean {
    return refusal !== undefined && this.deps.clock.now() < refusal.until;
  }

  private refusal(error: unknown, signal: AbortSignal): Refusal {
    const why = signal.aborted ? `no complete answer within ${DEADLINE_MS / 1000} s` : messageOf(error);
    return { reason: `${why.replace(/\.$/, '')}.`, until: this.deps.clock.now() + PAUSE_MS };
  }
}
