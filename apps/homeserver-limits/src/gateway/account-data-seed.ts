import { isJsonObject, type JsonObject } from '@headgate/matrix-protocol';
import type { Logger } from 'pino';
import { GLOBAL_SCOPE } from '../bounds/account-data.bound.js';
import { LeastRecentlyUsed } from '../homeserver/least-recently-used.js';
import type { MatrixRequest } from '../wire/matrix-request.js';
import { type AskUpstream, undecided } from './ask-upstream.js';
import type { SeenHoldings } from './seen-holdings.js';

/** A first sync with nothing in it but account data. */
const ACCOUNT_DATA_ONLY = {
  presence: { types: [] },
  room: { state: { types: [] }, timeline: { types: [], limit: 1 }, ephemeral: { types: [] }, include_leave: true },
};

/** A first sync is the dearest question there is: one that fails is not asked again at once. */
const SEED_AGAIN_MS = 60_000;
/** It may take a minute for somebody with many rooms. A write waits so long; then it counts on what came by. */
const SEED_PATIENCE_MS = 2_000;

/** Learns once which account data a user had before the gateway came. */
export class AccountDataSeed {
  private readonly seeding = new Map<string, Promise<void>>();
  private readonly failedAt = new LeastRecentlyUsed<string, number>(10_000);

  constructor(
    private readonly upstream: AskUpstream,
    private readonly seen: SeenHoldings,
    private readonly log: Logger,
    private readonly now: () => number = Date.now,
  ) {}

  /** Resolves when it is known, when it cannot be learned now, or when that takes too long to be waited for. */
  async of(userId: string, request: MatrixRequest): Promise<void> {
    if (this.seen.accountDataIsSeeded(userId)) return;
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, SEED_PATIENCE_MS);
    await Promise.race([this.seeded(userId, request), late.promise]);
    clearTimeout(timer);
  }

  /** Resolves when the upstream has told it, or will not. */
  private seeded(userId: string, request: MatrixRequest): Promise<void> {
    const failedAt = this.failedAt.get(userId) ?? -Infinity;
    if (this.now() - failedAt < SEED_AGAIN_MS) return Promise.resolve();
    const underway = this.seeding.get(userId);
    if (underway) return underway;
    const seeding = this.learn(userId, request)
      .catch((error: unknown) => {
        this.failedAt.set(userId, this.now());
        this.log.warn(
          { err: error, userId },
          'account data is counted from what came by: what was before is not known',
        );
      })
      .finally(() => this.seeding.delete(userId));
    this.seeding.set(userId, seeding);
    return seeding;
  }

  private async learn(userId: string, request: MatrixRequest): Promise<void> {
    const filter = encodeURIComponent(JSON.stringify(ACCOUNT_DATA_ONLY));
    const answer = await this.upstream.list(request, `/_matrix/client/v3/sync?timeout=0&filter=${filter}`);
    const { status, body } = answer;
    if (status !== 200 || !body) throw undecided(answer, 'The homeserver does not say which account data there is.');
    this.seen.seedAccountData(userId, entriesIn(body));
  }
}

/** Scope and type of everything in a sync. The tags of a room come as one entry, which tags alone make: it is not counted. */
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

/** Server-owned types are not written through the bounded endpoint and do not count. */
const NOT_COUNTED = ['m.push_rules', 'm.fully_read'];

function typesIn(part: unknown): string[] {
  const data = isJsonObject(part) && isJsonObject(part.account_data) ? part.account_data.events : undefined;
  if (!Array.isArray(data)) return [];
  const types = data.map((event: unknown) => (isJsonObject(event) ? event.type : undefined));
  return types.filter((type): type is string => typeof type === 'string' && !NOT_COUNTED.includes(type));
}
