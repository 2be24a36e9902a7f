import type { IncomingMessage } from 'node:http';
import { DomainError, messageOf, type Clock } from '@headgate/domain-contracts';
import { isApiNotServed, KubeApiError } from '../api/kube-api-error.js';
import type { KubeApi } from '../api/kube-api.js';
import type { Query } from '../api/kube-connection.js';
import { keyOf, type KubeObject } from '../api/kube-object.js';
import { pathOf, type Resource } from '../api/resources.js';
import { Backoff } from './backoff.js';
import type { Reachability } from './reachability.js';
import { readLines } from './read-lines.js';
import { errorOfEvent, isExpired, parseWatchEvent } from './watch-event.js';

/** Receives the objects of a watch. It copies the fields that it needs and does not keep the object. */
export interface KindSink<T extends KubeObject> {
  upsert(object: T): void;
  /** @param key `namespace/name` */
  remove(key: string): void;
  /** The keys of all entries. Entries that a new list does not contain are removed. */
  keys(): Iterable<string>;
}

export type KindState =
  /** Listed, and receiving events. */
  | { readonly state: 'following' }
  /** Nothing to follow: the API is not served, or the account may not read it. */
  | { readonly state: 'absent'; readonly error: DomainError }
  /** Disconnected, retrying. */
  | { readonly state: 'broken'; readonly error: DomainError };

export interface WatchDeps {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly reachability: Reachability;
}

export interface KindWatchOptions<T extends KubeObject> extends WatchDeps {
  readonly resource: Resource;
  /** Absent: the whole cluster. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly sink: KindSink<T>;
  readonly onState?: (state: KindState) => void;
  readonly random?: () => number;
}

/**
 * When the server ends a watch in good order, which costs one request. Spread, so that the kinds do not end together.
 */
const WATCH_SECONDS = 280;
const WATCH_SPREAD_SECONDS = 60;
/** How long after that a silent watch counts as stalled. */
const STALL_GRACE_MS = 20_000;
const RETRY_FIRST_MS = 100;
const RETRY_LIMIT_MS = 2_000;
/** The longest pause that an overloaded server can demand. */
const RETRY_AFTER_LIMIT_MS = 5_000;
/**
 * How often in a row an overloaded server is asked again before the watch counts as broken. A server refuses the first
 * watches of a new resource with 429 while it fills its cache.
 */
const MAX_OVERLOADS = 5;
/** A watch that ended sooner than this is resumed after a pause only. */
const SHORT_WATCH_MS = 5_000;
/** How often an API that is not served is looked up again. */
const ABSENT_RETRY_MS = 15_000;

/**
 * Lists a kind once, page by page, then follows it on one connection. Resumes where it can, and lists again where it
 * must.
 */
export class KindWatch<T extends KubeObject> {
  private readonly abort = new AbortController();
  private readonly backoff: Backoff;
  private readonly random: () => number;
  private version: string | undefined;
  private overloads = 0;
  private attempt = new AbortController();
  private connection: IncomingMessage | undefined;
  private running: Promise<void> | undefined;

  constructor(private readonly options: KindWatchOptions<T>) {
    this.random = options.random ?? Math.random;
    this.backoff = new Backoff(RETRY_FIRST_MS, RETRY_LIMIT_MS, this.random);
  }

  start(): this {
    this.running ??= this.run();
    return this;
  }

  async stop(): Promise<void> {
    this.abort.abort();
    this.connection?.destroy();
    await this.running;
  }

  /** Drops the current connection, which may be dead without a sign of it. The watch resumes at its last version. */
  reconnect(): void {
    this.attempt.abort();
    this.connection?.destroy(new Error('the API server was lost'));
  }

  private get stopped(): boolean {
    return this.abort.signal.aborted;
  }

  private get signal(): AbortSignal {
    return AbortSignal.any([this.abort.signal, this.attempt.signal]);
  }

  private async run(): Promise<void> {
    const { reachability, clock } = this.options;
    while (!this.stopped) {
      try {
        await resolvedOrAborted(reachability.whenUp(), this.abort.signal);
        if (this.stopped) return;
        this.attempt = new AbortController();
        this.version ??= await this.list();
        const startedAt = clock.now();
        await this.follow(this.version);
        // A watch that ended in good order is resumed immediately, unless the server ends every watch immediately.
        if (clock.now() - startedAt < SHORT_WATCH_MS) await this.pause(this.backoff.next());
        else this.backoff.reset();
      } catch (error) {
        if (!this.stopped) await this.recover(error);
      }
    }
  }

  private async recover(error: unknown): Promise<void> {
    const { reachability, onState } = this.options;
    if (isExpired(error)) {
      this.version = undefined;
      await this.pause(this.backoff.next());
    } else if (isApiNotServed(error) || DomainError.is(error, 'BACKEND_FORBIDDEN')) {
      this.version = undefined;
      this.removeAllExcept(new Set());
      onState?.({ state: 'absent', error: error as DomainError });
      await this.pause(ABSENT_RETRY_MS);
    } else {
      reachability.probeNow();
      if (!KubeApiError.has(error, 429) || ++this.overloads > MAX_OVERLOADS)
        onState?.({ state: 'broken', error: asDomainError(error) });
      const retryAfterMs = error instanceof KubeApiError ? (error.response.retryAfterMs ?? 0) : 0;
      await this.pause(Math.max(this.backoff.next(), Math.min(retryAfterMs, RETRY_AFTER_LIMIT_MS)));
    }
  }

  private async list(): Promise<string> {
    const { api, resource, namespace, labelSelector, fieldSelector, sink, reachability } = this.options;
    const listed = new Set<string>();
    let version = '';
    const signal = this.signal;
    for await (const page of api.pages<T>(resource, { namespace, labelSelector, fieldSelector, signal })) {
      reachability.recordActivity();
      if (page.isWhole) listed.clear();
      for (const object of page.items) {
        listed.add(keyOf(object));
        sink.upsert(object);
      }
      version = page.metadata.resourceVersion ?? version;
    }
    this.removeAllExcept(listed);
    return version;
  }

  private removeAllExcept(keys: ReadonlySet<string>): void {
    const { sink } = this.options;
    for (const key of [...sink.keys()]) if (this.covers(key) && !keys.has(key)) sink.remove(key);
  }

  /** Several watches, one per namespace, may share one sink. */
  private covers(key: string): boolean {
    return this.options.namespace === undefined || key.startsWith(`${this.options.namespace}/`);
  }

  private async follow(version: string): Promise<void> {
    const { api, clock, reachability, onState } = this.options;
    const seconds = WATCH_SECONDS + Math.floor(this.random() * WATCH_SPREAD_SECONDS);
    const query = this.watchQuery(version, seconds);
    const connection = await api.stream(this.path, { query, signal: this.signal, retry: false });
    this.connection = connection;
    reachability.recordActivity();
    this.overloads = 0;
    onState?.({ state: 'following' });
    const onStall = (): void => void connection.destroy(new Error('the watch stalled'));
    const cancel = clock.after(seconds * 1000 + STALL_GRACE_MS, onStall);
    try {
      await readLines(connection, {
        onBytes: () => reachability.recordActivity(),
        onLine: (line) => this.onEvent(line),
      });
    } finally {
      cancel();
      this.connection = undefined;
      connection.destroy();
    }
  }

  private onEvent(line: string): void {
    const event = parseWatchEvent<T>(line);
    if (event.type === 'ERROR') {
      throw errorOfEvent({ context: this.options.api.context, method: 'GET', path: this.path }, event.object);
    }
    const { object } = event;
    if (event.type === 'DELETED') this.options.sink.remove(keyOf(object));
    else if (event.type !== 'BOOKMARK') this.options.sink.upsert(object);
    this.version = object.metadata.resourceVersion ?? this.version;
    this.backoff.reset();
  }

  private get path(): string {
    return pathOf(this.options.resource, { namespace: this.options.namespace });
  }

  private watchQuery(resourceVersion: string, timeoutSeconds: number): Query {
    const { labelSelector, fieldSelector } = this.options;
    return { watch: true, allowWatchBookmarks: true, resourceVersion, timeoutSeconds, labelSelector, fieldSelector };
  }

  private pause(pauseMs: number): Promise<void> {
    return this.options.clock.delay(pauseMs, this.abort.signal);
  }
}

/** Waits for a promise that never rejects, or until the signal is aborted. */
function resolvedOrAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      signal.removeEventListener('abort', done);
      resolve();
    };
    signal.addEventListener('abort', done);
    void promise.then(done);
  });
}

const asDomainError = (error: unknown): DomainError =>
  error instanceof DomainError ? error : new DomainError('BACKEND_UNREACHABLE', messageOf(error), { cause: error });
