import { keyForEvent, readServerKeyDocument, type ServerKeyDocument } from './server-key-document.js';

/** Fetches a peer's keys. Rejects if the peer can't be reached. */
export abstract class ServerKeySource {
  /** The peer's JSON response to `/_matrix/key/v2/server`. */
  abstract fetch(server: string): Promise<unknown>;
}

export interface ServerKeysOptions {
  now?: () => number;
  /** Cached peers; beyond this, the one fetched longest ago is dropped. */
  maxServers?: number;
  /** How long a lookup that failed or found no key is not repeated, in ms. 0 (the default) fetches on every miss. */
  retryAfterMs?: number;
}

type SelectKey = (document: ServerKeyDocument) => string | undefined;

/** The keys of peers, fetched on demand and cached for at most seven days. */
export class ServerKeys {
  private readonly documents = new Map<string, ServerKeyDocument>();
  private readonly fetching = new Map<string, Promise<ServerKeyDocument>>();
  private readonly failedLookups = new Map<string, number>();
  private readonly now: () => number;
  private readonly maxServers: number;
  private readonly retryAfterMs: number;

  constructor(
    private readonly source: ServerKeySource,
    { now = Date.now, maxServers = 10_000, retryAfterMs = 0 }: ServerKeysOptions = {},
  ) {
    this.now = now;
    this.maxServers = maxServers;
    this.retryAfterMs = retryAfterMs;
  }

  /** The public key of a peer in unpadded base64, or undefined if the peer does not publish it. */
  find(server: string, keyId: string): Promise<string | undefined> {
    return this.search(server, keyId, (document) => document.verifyKeys.get(keyId));
  }

  /**
   * Like `find`, for an event sent at a given time (Unix time in ms), which may be signed with a key that expired
   * later.
   */
  findForEvent(server: string, keyId: string, sentAt: number): Promise<string | undefined> {
    return this.search(server, keyId, (document) => keyForEvent(document, keyId, sentAt));
  }

  /** The peer's whole document, fetched if the cached one has expired. Rejects if it can't be fetched. */
  async document(server: string): Promise<ServerKeyDocument> {
    return this.current(server) ?? this.refetch(server);
  }

  private async search(server: string, keyId: string, select: SelectKey): Promise<string | undefined> {
    const document = this.current(server);
    // A current document that lists the key is authoritative: fetching again would not change the result.
    if (document?.verifyKeys.has(keyId) || document?.oldVerifyKeys.has(keyId)) return select(document);
    const lookup = `${server} ${keyId}`;
    if (this.failedRecently(lookup)) return undefined;
    const key = await this.refetch(server).then(select, () => undefined);
    if (key === undefined) this.recordFailure(lookup);
    return key;
  }

  private current(server: string): ServerKeyDocument | undefined {
    const document = this.documents.get(server);
    return document && document.validUntil > this.now() ? document : undefined;
  }

  // Parallel misses share one fetch per peer.
  private refetch(server: string): Promise<ServerKeyDocument> {
    const running = this.fetching.get(server);
    if (running) return running;
    const fetching = this.fetchOnce(server).finally(() => this.fetching.delete(server));
    this.fetching.set(server, fetching);
    return fetching;
  }

  private async fetchOnce(server: string): Promise<ServerKeyDocument> {
    const document = readServerKeyDocument(await this.source.fetch(server), server, this.now());
    this.documents.delete(server);
    this.documents.set(server, document);
    dropOldest(this.documents, this.maxServers);
    return document;
  }

  private failedRecently(lookup: string): boolean {
    return this.retryAfterMs > 0 && (this.failedLookups.get(lookup) ?? -Infinity) + this.retryAfterMs > this.now();
  }

  private recordFailure(lookup: string): void {
    if (this.retryAfterMs === 0) return;
    this.failedLookups.delete(lookup);
    this.failedLookups.set(lookup, this.now());
    dropOldest(this.failedLookups, this.maxServers);
  }
}

function dropOldest(map: Map<string, unknown>, max: number): void {
  for (const key of map.keys()) {
    if (map.size <= max) return;
    map.delete(key);
  }
}
