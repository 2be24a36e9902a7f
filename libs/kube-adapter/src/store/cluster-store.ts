import { DomainError, SILENT_LOG, type Clock, type Log } from '@headgate/domain-contracts';
import { isPassing } from '../api/kube-api-error.js';
import { KubeApi } from '../api/kube-api.js';
import { KubeConnection } from '../api/kube-connection.js';
import { KubeCredentials } from '../api/kube-credentials.js';
import type { KubeObject } from '../api/kube-object.js';
import type { KubeconfigSource } from '../api/kubeconfig-source.js';
import type { Resource } from '../api/resources.js';
import { KindWatch, type KindSink } from '../watch/kind-watch.js';
import { Reachability } from '../watch/reachability.js';
import { versionProbe } from '../watch/version-probe.js';

export interface ClusterStoreOptions {
  /** The name of the context, for messages. */
  readonly context: string;
  readonly kubeconfig: KubeconfigSource;
  /** The kubeconfig's context; absent: its current one. */
  readonly kubeContext?: string;
  /** The namespace of all objects of the store. */
  readonly namespace: string;
  readonly clock: Clock;
  readonly log?: Log;
}

/** A kind of objects that is followed. */
export interface StoreWatch {
  /**
   * Resolves when all objects were listed. Rejects when they can't be, or the server fails or is overloaded for 15 s.
   */
  readonly listed: Promise<void>;
  /** Resolves when the last request has ended. */
  stop(): Promise<void>;
}

/** How long the first list waits for a server that fails or is overloaded. */
const FIRST_LIST_LIMIT_MS = 15_000;

/** The namespace of a cluster in which several replicas of the service keep what they share. */
export class ClusterStore {
  private readonly watches = new Set<StoreWatch>();
  private readonly unlisten: () => void;

  private constructor(
    readonly api: KubeApi,
    readonly namespace: string,
    readonly clock: Clock,
    private readonly log: Log,
    private readonly reachability: Reachability,
    private readonly credentials: KubeCredentials,
  ) {
    this.unlisten = reachability.listen({
      lost: (error) => log.warn({ reason: error.message }, 'the store of the cluster is lost'),
      up: () => log.info({ namespace }, 'the store of the cluster is reached'),
    });
  }

  /** Sends no request. */
  static open({
    context,
    kubeconfig,
    kubeContext,
    namespace,
    clock,
    log = SILENT_LOG,
  }: ClusterStoreOptions): ClusterStore {
    const credentials = new KubeCredentials(kubeconfig, kubeContext);
    const reachability = new Reachability(versionProbe(new KubeConnection(context, credentials, clock)), clock);
    const api = new KubeApi(context, credentials, clock);
    return new ClusterStore(api, namespace, clock, log, reachability, credentials);
  }

  /** Lists the objects of a kind and follows their changes until it is stopped. */
  watch<T extends KubeObject>(resource: Resource, sink: KindSink<T>): StoreWatch {
    const { api, clock, reachability, namespace, log } = this;
    const listed = Promise.withResolvers<void>();
    // Only the first user of the store waits for it.
    listed.promise.catch(() => undefined);
    let failure: DomainError | undefined;
    let endLimit = (): void => undefined;
    const fail = (error: DomainError | undefined): void => {
      endLimit();
      listed.reject(error);
    };
    const watch = new KindWatch<T>({
      api,
      clock,
      reachability,
      resource,
      namespace,
      sink,
      onState: (state) => {
        if (state.state === 'following') {
          endLimit();
          return listed.resolve();
        }
        if (failure === undefined) endLimit = clock.after(FIRST_LIST_LIMIT_MS, () => fail(failure));
        failure = state.error;
        if (state.state === 'absent' || !isPassing(failure)) fail(failure);
        log.warn({ kind: resource.kind, reason: failure.message }, 'objects of the store are not followed');
      },
    }).start();
    const followed: StoreWatch = {
      listed: listed.promise,
      stop: () => {
        fail(failure ?? new DomainError('NOT_READY', 'The store was closed before it was read.'));
        this.watches.delete(followed);
        return watch.stop();
      },
    };
    this.watches.add(followed);
    return followed;
  }

  /** Resolves when all watches and probes have ended. */
  async close(): Promise<void> {
    await Promise.all([...this.watches].map((watch) => watch.stop()));
    this.unlisten();
    await this.reachability.idle();
    this.credentials.close();
  }
}

/** The same failure with the remedy, if a resource of the store is not installed. */
export const withRemedy = (error: unknown): unknown =>
  DomainError.is(error, 'NOT_SUPPORTED')
    ? new DomainError(
        'NOT_READY',
        `${error.message} Install the definitions: kubectl apply -k deploy/vm-service/crds.`,
        {
          cause: error,
        },
      )
    : error;
