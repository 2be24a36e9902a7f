import type { RemoteOpenId } from '@headgate/embedded-homeserver/peers';
import { MatrixError, parseUserId } from '@headgate/matrix-protocol';
import { type Caller, digest, Identity, LeastRecentlyUsed, type MatrixRequest } from '@headgate/homeserver-contracts';
import { type AssertedIdentity, assertedIdentity } from './asserted-identity.js';
import type { ApplicationServices } from './application-services.js';
import { type UpstreamQueries, queryFailure, type QueryResult } from './upstream-queries.js';

const MAX_TOKENS = 100_000;

export interface GatewayIdentityOptions {
  serverName: string;
  /** How long the owner of a token is cached, in ms. */
  ttlMs: number;
  now?: () => number;
  /** Receives whether a caller was cached. */
  onLookup?: (isHit: boolean) => void;
}

interface CachedCaller {
  readonly caller: Caller;
  readonly lookedUpAt: number;
}

/** Identifies callers by asking the upstream. Tokens are cached by their digest, for a short time. */
export class GatewayIdentity extends Identity {
  private readonly callers = new LeastRecentlyUsed<string, CachedCaller>(MAX_TOKENS);
  /** When the tokens of a user were last revoked: callers looked up before are no longer valid. */
  private readonly revokedAt = new LeastRecentlyUsed<string, number>(MAX_TOKENS);
  private readonly openIdUsers = new LeastRecentlyUsed<string, { userId: string; until: number }>(MAX_TOKENS);
  private readonly lookups = new Map<string, Promise<Caller>>();
  private readonly byRequest = new WeakMap<MatrixRequest, Promise<Caller>>();
  private readonly now: () => number;

  constructor(
    private readonly upstream: UpstreamQueries,
    private readonly services: ApplicationServices,
    private readonly options: GatewayIdentityOptions,
    /** Checks the tokens of other servers. */
    private readonly remote?: Pick<RemoteOpenId, 'userOf'>,
  ) {
    super();
    this.now = options.now ?? (() => performance.now());
  }

  /** Looked up once per request. */
  override callerOf(request: MatrixRequest): Promise<Caller> {
    const caller = this.byRequest.get(request) ?? this.identify(request);
    this.byRequest.set(request, caller);
    return caller;
  }

  override async openIdUser(serverName: string, token: string, request: MatrixRequest): Promise<string | undefined> {
    if (serverName !== this.options.serverName) return this.remote?.userOf(serverName, token);
    const cacheKey = digest(token);
    const cached = this.openIdUsers.get(cacheKey);
    if (cached && cached.until > this.now()) return cached.userId;
    const path = `/_matrix/federation/v1/openid/userinfo?access_token=${encodeURIComponent(token)}`;
    const result = await this.upstream.get(request, path);
    if (isRefused(result)) return undefined;
    if (result.status !== 200) throw queryFailure(result, 'The homeserver could not check the token.');
    const sub = result.body?.sub;
    if (parseUserId(sub)?.server !== serverName) return undefined;
    this.openIdUsers.set(cacheKey, { userId: String(sub), until: this.now() + this.options.ttlMs });
    return String(sub);
  }

  /** The upstream does not accept this token, or it is being revoked. */
  forget(token: string): void {
    this.callers.delete(digest(token));
  }

  /** The request revoked tokens that it does not name: every token of this token's user is dropped. */
  forgetUserOf(token: string): void {
    const caller = this.callers.get(digest(token))?.caller;
    if (caller) this.revokedAt.set(caller.userId, this.now());
  }

  private async identify(request: MatrixRequest): Promise<Caller> {
    const token = request.token();
    if (token === undefined) throw MatrixError.missingToken();
    const asserted = assertedIdentity(request);
    const service = this.services.callerOf(token, asserted);
    if (service) return service;
    const cacheKey = cacheKeyOf(token, asserted);
    const cached = this.callers.get(cacheKey);
    const isHit = cached !== undefined && this.isValid(cached);
    this.options.onLookup?.(isHit);
    if (isHit) return cached.caller;
    return this.lookUpOnce(cacheKey, request);
  }

  private isValid({ caller, lookedUpAt }: CachedCaller): boolean {
    const isFresh = this.now() - lookedUpAt < this.options.ttlMs;
    return isFresh && lookedUpAt > (this.revokedAt.get(caller.userId) ?? -Infinity);
  }

  private lookUpOnce(cacheKey: string, request: MatrixRequest): Promise<Caller> {
    const running = this.lookups.get(cacheKey);
    if (running) return running;
    const lookup = this.lookUp(cacheKey, request).finally(() => this.lookups.delete(cacheKey));
    this.lookups.set(cacheKey, lookup);
    return lookup;
  }

  private async lookUp(cacheKey: string, request: MatrixRequest): Promise<Caller> {
    // A revocation while the query is in progress invalidates its result.
    const lookedUpAt = this.now();
    const result = await this.upstream.asCaller(request, 'GET', '/_matrix/client/v3/account/whoami');
    const { status, body } = result;
    if (status !== 200 || typeof body?.user_id !== 'string') {
      throw queryFailure(result, 'The homeserver did not identify the user of this token.');
    }
    const { user_id: userId, device_id: deviceId } = body;
    const token = request.token() ?? '';
    const appservice = this.services.idOf(token);
    const caller: Caller = {
      userId,
      exemptFromRates: this.services.exempts(token, userId),
      ...(typeof deviceId === 'string' && { deviceId }),
      ...(appservice !== undefined && { appservice }),
    };
    this.callers.set(cacheKey, { caller, lookedUpAt });
    return caller;
  }
}

/** A token of an application service without a registration here is a different caller for each asserted user. */
const cacheKeyOf = (token: string, { userId, deviceId }: AssertedIdentity): string =>
  digest(userId === undefined && deviceId === undefined ? token : JSON.stringify([token, userId, deviceId]));

/**
 * The token is not live. Any other status is inconclusive: 404 is a homeserver that does not serve this endpoint here.
 */
const isRefused = ({ status }: QueryResult): boolean => status === 400 || status === 401 || status === 403;
