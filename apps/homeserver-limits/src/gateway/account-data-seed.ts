import { isJsonObject, type JsonObject } from '@headgate/matrix-protocol';
import type { Logger } from 'pino';
import { GLOBAL_SCOPE, LeastRecentlyUsed, type MatrixRequest } from '@headgate/homeserver-contracts';
import { type UpstreamQueries, queryFailure } from './upstream-queries.js';
import type { HoldingsCache } from './holdings-cache.js';

/** An initial sync with nothing but account data. */
const ACCOUNT_DATA_ONLY = {
  presence: { types: [] },
  room: { state: { types: [] }, timeline: { types: [], limit: 1 }, ephemeral: { types: [] }, include_leave: true },
};

/** An initial sync is the most expensive query, so a failed one is not retried immediately. */
const RETRY_AFTER_MS = 60_000;
/**
 * An initial sync may take a minute for a user with many rooms. A write waits this long, then the observed entries
 * count.
 */
const MAX_WAIT_MS = 2_000;

/** Loads, once per user, the account data from before the gateway was installed. */
export class AccountDataSeed {
  private readonly running = new Map<string, Promise<void>>();
  private readonly failedAt = new LeastRecentlyUsed<string, number>(10_000);

  constructor(
    private readonly upstream: UpstreamQueries,
    private readonly cache: HoldingsCache,
    private readonly log: Logger,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Resolves when the account data is loaded, when loading has failed, or after the longest wait. */
  async ensure(userId: string, request: MatrixRequest): Promise<void> {
    if (this.cache.accountDataIsSeeded(userId)) return;
    const timeout = Promise.withResolvers<void>();
    const timer = setTimeout(timeout.resolve, MAX_WAIT_MS);
    await Promise.race([this.loadOnce(userId, request), timeout.promise]);
    clearTimeout(timer);
  }

  /** Resolves when the account data is loaded, or loading has failed. */
  private loadOnce(userId: string, request: MatrixRequest): Promise<void> {
    const failedAt = this.failedAt.get(userId) ?? -Infinity;
    if (this.now() - failedAt < RETRY_AFTER_MS) return Promise.resolve();
    const running = this.running.get(userId);
    if (running) return running;
    const loading = this.load(userId, request)
      .catch((error: unknown) => {
        this.failedAt.set(userId, this.now());
        this.log.warn(
          { err: error, userId },
          'earlier account data could not be loaded: only the observed types count',
        );
      })
      .finally(() => this.running.delete(userId));
    this.running.set(userId, loading);
    return loading;
  }

  private async load(userId: string, request: MatrixRequest): Promise<void> {
    const filter = encodeURIComponent(JSON.stringify(ACCOUNT_DATA_ONLY));
    const result = await this.upstream.list(
      request,
      `/_matrix/client/v3/sync?timeout=0&set_presence=offline&filter=${filter}`,
    );
    const { status, body } = result;
    if (status !== 200 || !body) throw queryFailure(result, 'The homeserver did not list the account data.');
    this.cache.seedAccountData(userId, entriesIn(body));
  }
}

/** The scope and type of each entry in a sync. The tags of a room appear as one entry, which is not counted. */
function entriesIn({ account_data, rooms }: JsonObject): [scope: string, type: string][] {
  const groups = isJsonObject(rooms) ? [rooms.join, rooms.leave] : [];
  const inRooms = groups.flatMap((group) => Object.entries(isJsonObject(group) ? group : {}));
  return [
    ...typesIn({ account_data }).map((type): [string, string] => [GLOBAL_SCOPE, type]),
    ...inRooms.flatMap(([roomId, room]) =>
      typesIn(room)
        .filter((type) => type !== 'm.tag')
        .map((type): [string, string] => [roomId, type]),
    ),
  ];
}

/** Types that the server owns are not written through the bounded endpoint and do not count. */
const NOT_COUNTED = ['m.push_rules', 'm.fully_read'];

function typesIn(part: unknown): string[] {
  const data = isJsonObject(part) && isJsonObject(part.account_data) ? part.account_data.events : undefined;
  if (!Array.isArray(data)) return [];
  const types = data.map((event: unknown) => (isJsonObject(event) ? event.type : undefined));
  return types.filter((type): type is string => typeof type === 'string' && !NOT_COUNTED.includes(type));
}
