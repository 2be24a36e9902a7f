import { MatrixError, parseUserId } from '@headgate/matrix-protocol';
import { digest } from '../homeserver/digest.js';
import { type Caller, Identity } from '../homeserver/identity.port.js';
import { LeastRecentlyUsed } from '../homeserver/least-recently-used.js';
import type { MatrixRequest } from '../wire/matrix-request.js';
import { type ActingFor, actingFor } from './acting-for.js';
import type { ApplicationServices } from './application-services.js';
import { type AskUpstream, undecided, type UpstreamAnswer } from './ask-upstream.js';

const MAX_TOKENS = 100_000;

export interface GatewayIdentityOptions {
  serverName: string;
  /** How long the owner of a token is remembered, in ms. */
  ttlMs: number;
  now?: () => number;
}

/** Knows callers by asking the upstream who they are. Tokens are remembered by digest, for a short time. */
export class GatewayIdentity extends Identity {
  private readonly known = new LeastRecentlyUsed<string, { caller: Caller; until: number }>(MAX_TOKENS);
  private readonly openIdUsers = new LeastRecentlyUsed<string, { userId: string; until: number }>(MAX_TOKENS);
  private readonly asking = new Map<string, Promise<Caller>>();
  private readonly decided = new WeakMap<MatrixRequest, Promise<Caller>>();
  private readonly now: () => number;

  constructor(
    private readonly upstream: AskUpstream,
    private readonly services: ApplicationServices,
    private readonly options: GatewayIdentityOptions,
  ) {
    super();
    this.now = options.now ?? Date.now;
  }

  /** Decided once for a request, however long it takes. */
  override callerOf(request: MatrixRequest): Promise<Caller> {
    const decided = this.decided.get(request) ?? this.decide(request);
    this.decided.set(request, decided);
    return decided;
  }

  override async openIdUser(serverName: string, token: string): Promise<string | undefined> {
    if (serverName !== this.options.serverName) return undefined;
    const mark = digest(token);
    const remembered = this.openIdUsers.get(mark);
    if (remembered && remembered.until > this.now()) return remembered.userId;
    const path = `/_matrix/federation/v1/openid/userinfo?access_token=${encodeURIComponent(token)}`;
    const answer = await this.upstream.get(path);
    if (isRefused(answer)) return undefined;
    if (answer.status !== 200) throw undecided(answer, 'The homeserver cannot check the token.');
    const sub = answer.body?.sub;
    if (parseUserId(sub)?.server !== serverName) return undefined;
    this.openIdUsers.set(mark, { userId: String(sub), until: this.now() + this.options.ttlMs });
    return String(sub);
  }

  /** The upstream did not know this token, or it is being ended. */
  forget(token: string): void {
    this.known.delete(digest(token));
  }

  /** Something ended tokens that we do not see: every token of this token's user. */
  forgetUserOf(token: string): void {
    const caller = this.known.get(digest(token))?.caller;
    if (caller) this.known.deleteWhere((entry) => entry.caller.userId === caller.userId);
  }

  private async decide(request: MatrixRequest): Promise<Caller> {
    const token = request.token();
    if (token === undefined) throw MatrixError.missingToken();
    const acting = actingFor(request);
    const service = this.services.callerOf(token, acting);
    if (service) return service;
    const mark = markOf(token, acting);
    const remembered = this.known.get(mark);
    if (remembered && remembered.until > this.now()) return remembered.caller;
    return this.askOnce(mark, request);
  }

  private askOnce(mark: string, request: MatrixRequest): Promise<Caller> {
    const underway = this.asking.get(mark);
    if (underway) return underway;
    const asking = this.ask(mark, request).finally(() => this.asking.delete(mark));
    this.asking.set(mark, asking);
    return asking;
  }

  private async ask(mark: string, request: MatrixRequest): Promise<Caller> {
    const answer = await this.upstream.as(request, 'GET', '/_matrix/client/v3/account/whoami');
    const { status, body } = answer;
    if (status !== 200 || typeof body?.user_id !== 'string') {
      throw undecided(answer, 'The homeserver does not say whose token this is.');
    }
    const { user_id: userId, device_id: deviceId } = body;
    const exemptFromRates = this.services.exempts(request.token() ?? '', userId);
    const caller: Caller = { userId, exemptFromRates, ...(typeof deviceId === 'string' && { deviceId }) };
    this.known.set(mark, { caller, until: this.now() + this.options.ttlMs });
    return caller;
  }
}

/** A token whose application service nobody has told us of is a different caller for each user that it acts for. */
const markOf = (token: string, { userId, deviceId }: ActingFor): string =>
  digest(userId === undefined && deviceId === undefined ? token : JSON.stringify([token, userId, deviceId]));

/** The token is not live. Any other status says nothing about it: 404 is a homeserver that does not serve this here. */
const isRefused = ({ status }: UpstreamAnswer): boolean => status === 400 || status === 401 || status === 403;
