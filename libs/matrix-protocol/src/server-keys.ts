import { keyForEvent, readServerKeyDocument, type ServerKeyDocument } from './server-key-document.js';

/** Asks a peer for its keys. Rejects when the peer cannot be reached. */
export abstract class ServerKeySource {
  /** The JSON that the peer answered on `/_matrix/key/v2/server`. */
  abstract fetch(server: string): Promise<unknown>;
}

export interface ServerKeysOptions {
  now?: () => number;
  /** Peers remembered at once; the one fetched longest ago goes first. */
  maxServers?: number;
  /** How long a failed or fruitless fetch is not repeated, in ms. 0 (the default): every miss fetches. */
  retryAfterMs?: number;
}

type Pick = (document: ServerKeyDocument) => string | undefined;

/** The keys of peers: fetched when needed, believed for seven days at most, and then fetched again. */
export class ServerKeys {
  private readonly documents = new Map<string, ServerKeyDocument>();
  private readonly fetching = new Map<string, Promise<ServerKeyDocument>>();
  private readonly fruitless = new Map<string, number>();
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

  /** The public key of a peer in unpadded base64, or undefined when the peer does not publish it (any more). */
  find(server: string, keyId: string): Promise<string | undefined> {
    return this.search(server, keyId, (document) => document.verifyKeys.get(keyId));
  }

  /** The same for an event that says it was sent at a time (Unix time in ms): an old key will do up to its end. */
  findForEvent(server: string, keyId: string, sentAt: number): Promise<string | undefined> {
    return this.search(server, keyId, (document) => keyForEvent(document, keyId, sentAt));
  }

  /** The peer's whole document, fetched when none is current. Rejects when it cannot be had. */
  async document(server: string): Promise<ServerKeyDocument> {
    return this.current(server) ?? this.refetch(server);
  }

  private async search(server: string, keyId: string, pick: Pick): Promise<string | undefined> {
    const document = this.current(server);
    // A document that lists the key says all there is to say about it; another would only say the same.
    if (document?.verifyKeys.has(keyId) || document?.oldVerifyKeys.has(keyId)) return pick(document);
    const mark = `${server} ${keyId}`;
    if (this.triedLately(mark)) return undefined;
    const key = await this.refetch(server).then(pick, () => undefined);
    if (key === undefined) this.markFruitless(mark);
    return key;
  }

  private current(server: string): ServerKeyDocument | undefined {
    const document = this.documents.get(server);
    return document && document.validUntil > this.now() ? document : undefined;
  }

  // However many requests miss at once, one fetch per peer is on its way.
  private refetch(server: string): Promise<ServerKeyDocument> {
    const underway = this.fetching.get(server);
    if (underway) return underway;
    const fetching = this.fetchOnce(server).finally(() => this.fetching.delete(server));
    this.fetching.set(server, fetching);
    return fetching;
  }

  private async fetchOnce(server: string): Promise<ServerKeyDocument> {
    const document = readServerKeyDocument(await this.source.fetch(server), server, this.now());
    this.documents.delete(server);
    this.documents.set(server, document);
    forgetOldest(this.documents, this.maxServers);
    return document;
  }

  private triedLately(mark: string): boolean {
    return this.retryAfterMs > 0 && (this.fruitless.get(mark) ?? -Infinity) + this.retryAfterMs > this.now();
  }

  private markFruitless(mark: string): void {
    if (this.retryAfterMs === 0) return;
    this.fruitless.delete(mark);
    this.fruitless.set(mark, this.now());
    forgetOldest(this.fruitless, this.maxServers);
  }
}

function forgetOldest(map: Map<string, unknown>, max: number): void {
  for (const key of map.keys()) {
    if (map.size <= max) return;
    map.delete(key);
  }
}
