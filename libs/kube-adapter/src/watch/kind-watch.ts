import type { IncomingMessage } from 'node:http';
import { DomainError } from '@headgate/domain-contracts';
import { isAbsentApi } from '../api/kube-api-error.js';
import type { Query } from '../api/kube-connection.js';
import { keyOf, type KubeObject } from '../api/kube-object.js';
import { pathOf } from '../api/resources.js';
import { Backoff } from './backoff.js';
import type { KindWatchSettings } from './kind-watch-settings.js';
import { readLines } from './read-lines.js';
import { untilAborted } from './until-aborted.js';
import { errorOfEvent, isExpired, parseWatchEvent } from './watch-event.js';

/** Seconds after which the server ends a watch by itself; a clean end costs one request. Spread, so that kinds do not end together. */
const WATCH_SECONDS = 280;
const WATCH_SPREAD_SECONDS = 60;
/** Grace on top before a silent watch counts as stalled. */
const STALL_GRACE_MS = 20_000;
const RETRY_FIRST_MS = 100;
const RETRY_LIMIT_MS = 2_000;
/** A watch that ended sooner than this is no reason to hurry. */
const SHORT_LIFE_MS = 5_000;
/** How often an API that is not there is looked for again. */
const ABSENT_MS = 15_000;

/** Lists a kind once, page by page, then follows it on one connection, and starts over when it must. */
export class KindWatch<T extends KubeObject> {
  private readonly abort = new AbortController();
  private readonly backoff: Backoff;
  private readonly random: () => number;
  private version: string | undefined;
  private attempt = new AbortController();
  private connection: IncomingMessage | undefined;
  private running: Promise<void> | undefined;

  constructor(private readonly settings: KindWatchSettings<T>) {
    this.random = settings.random ?? Math.random;
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

  /** Cuts what is under way, which may be dead without knowing; the watch resumes where it was. */
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
    const { reachability } = this.settings;
    while (!this.stopped) {
      try {
        await untilAborted(this.abort.signal, reachability.whenUp());
        if (this.stopped) return;
        this.attempt = new AbortController();
        this.version ??= await this.list();
        const begun = this.settings.clock.now();
        await this.follow(this.version);
        // A clean end costs no pause, unless the server ends every watch at once.
        if (this.settings.clock.now() - begun < SHORT_LIFE_MS) await this.pause(this.backoff.next());
        else this.backoff.reset();
      } catch (error) {
        if (!this.stopped) await this.recover(error);
      }
    }
  }

  private async recover(error: unknown): Promise<void> {
    const { reachability, onState } = this.settings;
    if (isExpired(error)) {
      this.version = undefined;
      await this.pause(this.backoff.next());
    } else if (isAbsentApi(error) || DomainError.is(error, 'BACKEND_FORBIDDEN')) {
      this.version = undefined;
      for (const key of [...this.settings.sink.keys()]) if (this.covers(key)) this.settings.sink.remove(key);
      onState?.({ state: 'absent', error: error as DomainError });
      await this.pause(ABSENT_MS);
    } else {
      reachability.suspect();
      onState?.({ state: 'broken', error: asDomainError(error) });
      await this.pause(this.backoff.next());
    }
  }

  private async list(): Promise<string> {
    const { api, resource, namespace, labelSelector, fieldSelector, sink, reachability } = this.settings;
    const present = new Set<string>();
    let version = '';
    const signal = this.signal;
    for await (const page of api.pages<T>(resource, { namespace, labelSelector, fieldSelector, signal })) {
      reachability.heard();
      for (const object of page.items) {
        present.add(keyOf(object));
        sink.upsert(object);
      }
      version = page.metadata.resourceVersion ?? version;
    }
    for (const key of [...sink.keys()]) if (this.covers(key) && !present.has(key)) sink.remove(key);
    return version;
  }

  /** Several watches, one per namespace, may feed one sink. */
  private covers(key: string): boolean {
    return this.settings.namespace === undefined || key.startsWith(`${this.settings.namespace}/`);
  }

  private async follow(version: string): Promise<void> {
    const { api, clock, reachability, onState } = this.settings;
    const seconds = WATCH_SECONDS + Math.floor(this.random() * WATCH_SPREAD_SECONDS);
    const connection = await api.stream(this.path, { query: this.watchQuery(version, seconds), signal: this.signal });
    this.connection = connection;
    reachability.heard();
    onState?.({ state: 'following' });
    const stalled = (): void => void connection.destroy(new Error('the watch stalled'));
    const cancel = clock.after(seconds * 1000 + STALL_GRACE_MS, stalled);
    try {
      await readLines(connection, {
        onBytes: () => reachability.heard(),
        onLine: (line) => this.take(line),
      });
    } finally {
      cancel();
      this.connection = undefined;
      connection.destroy();
    }
  }

  private take(line: string): void {
    const event = parseWatchEvent<T>(line);
    if (event.type === 'ERROR') {
      throw errorOfEvent({ context: this.settings.api.context, method: 'GET', path: this.path }, event.object);
    }
    const { object } = event;
    if (event.type === 'DELETED') this.settings.sink.remove(keyOf(object));
    else if (event.type !== 'BOOKMARK') this.settings.sink.upsert(object);
    this.version = object.metadata.resourceVersion ?? this.version;
    this.backoff.reset();
  }

  private get path(): string {
    return pathOf(this.settings.resource, { namespace: this.settings.namespace });
  }

  private watchQuery(resourceVersion: string, timeoutSeconds: number): Query {
    const { labelSelector, fieldSelector } = this.settings;
    return { watch: true, allowWatchBookmarks: true, resourceVersion, timeoutSeconds, labelSelector, fieldSelector };
  }

  private pause(ms: number): Promise<void> {
    return untilAborted(this.abort.signal, new Promise((resolve) => this.settings.clock.after(ms, resolve)));
  }
}

const asDomainError = (error: unknown): DomainError =>
  error instanceof DomainError
    ? error
    : new DomainError('BACKEND_UNREACHABLE', error instanceof Error ? error.message : String(error), { cause: error });
