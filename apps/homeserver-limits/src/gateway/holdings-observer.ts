import {
  type Caller,
  DELAY_PARAMETER,
  delayedHolder,
  deviceHolder,
  GLOBAL_SCOPE,
  type Identity,
  jsonBodyOf,
  KEYS_LIMIT_BYTES,
  type MatrixRequest,
  type MatrixResponse,
  MAX_KEYS_VALUES,
  oneTimeKeysIn,
  succeeded,
} from '@headgate/homeserver-contracts';
import type { Caps } from '../rules/caps.js';
import type { Interest, ResponseObserver } from './gateway-homeserver.js';
import type { HoldingsCache } from './holdings-cache.js';
import { filterFingerprint, reportedKeys } from './upstream-holdings.js';

const BODY_OPERATIONS = new Set(['createFilter', 'scheduleDelayed', 'uploadKeys']);
const MAY_SCHEDULE = new Set(['send', 'setState']);
const STATUS_OPERATIONS = new Set([
  'getFilter',
  'setAccountData',
  'setRoomAccountData',
  'deleteAccountData',
  'deleteRoomAccountData',
  'manageDelayed',
  'setPusher',
]);

export interface HoldingsObserverDeps {
  identity: Identity;
  cache: HoldingsCache;
  caps: Caps;
  /** Whether a GET of the path with the caller's token finds something. */
  exists: (request: MatrixRequest, path: string) => Promise<boolean>;
}

/** Updates the holdings cache from the upstream's responses. */
export class HoldingsObserver implements ResponseObserver {
  constructor(private readonly deps: HoldingsObserverDeps) {}

  interest(request: MatrixRequest, operation: string): Interest {
    if (MAY_SCHEDULE.has(operation)) return request.hasQuery(DELAY_PARAMETER) ? 'body' : 'none';
    if (BODY_OPERATIONS.has(operation)) return 'body';
    return STATUS_OPERATIONS.has(operation) ? 'status' : 'none';
  }

  async observe(request: MatrixRequest, operation: string, response: MatrixResponse): Promise<void> {
    if (succeeded(response)) await this.update(request, operation, response);
  }

  private async update(request: MatrixRequest, operation: string, response: MatrixResponse): Promise<void> {
    const { identity, cache } = this.deps;
    switch (operation) {
      case 'createFilter':
        return this.addFilter(await identity.callerOf(request), request, response);
      case 'getFilter':
        return cache.addFilter(request.param('userId'), request.param('filterId'), undefined);
      case 'setAccountData':
      case 'setRoomAccountData':
        if (await this.wasDeletion(request)) return this.removeAccountData(request);
        return cache.addAccountData(request.param('userId'), scopeIn(request), request.param('type'));
      case 'deleteAccountData':
      case 'deleteRoomAccountData':
        return this.removeAccountData(request);
      case 'send':
      case 'setState':
      case 'scheduleDelayed':
        return this.addDelayedEvent(request, operation, response);
      case 'manageDelayed':
        return this.updateDelayedEvent(request);
      case 'uploadKeys':
        return this.addOneTimeKeys(request, response);
      case 'setPusher':
        return this.countPushersAfterDeletion(request);
    }
  }

  /** Some homeservers treat an empty object as a deletion, others store it. */
  private async wasDeletion(request: MatrixRequest): Promise<boolean> {
    const body = await request.jsonOfFewValues();
    if (!body || Object.keys(body).length > 0) return false;
    const [path = ''] = request.target.split('?', 1);
    return this.deps.exists(request, path).then(
      (found) => !found,
      () => false,
    );
  }

  private removeAccountData(request: MatrixRequest): void {
    const { cache, caps } = this.deps;
    cache.removeAccountData(request.param('userId'), scopeIn(request), request.param('type'));
    caps.ledger.invalidate(caps.accountData, request.param('userId'));
  }

  private async addFilter(caller: Caller, request: MatrixRequest, response: MatrixResponse): Promise<void> {
    const id = jsonBodyOf(response)?.filter_id;
    if (typeof id === 'string') {
      this.deps.cache.addFilter(caller.userId, id, filterFingerprint(await request.json()));
    }
  }

  private async addOneTimeKeys(request: MatrixRequest, response: MatrixResponse): Promise<void> {
    const { identity, cache, caps } = this.deps;
    const reported = reportedKeys(jsonBodyOf(response));
    const { userId, deviceId } = await identity.callerOf(request);
    if (reported === undefined || deviceId === undefined) return;
    const body = await request.json(KEYS_LIMIT_BYTES, { optional: true, maxValues: MAX_KEYS_VALUES });
    const holder = deviceHolder(userId, deviceId);
    const held = caps.ledger.held(caps.oneTimeKeys, holder);
    const added = Object.keys(oneTimeKeysIn(body)).length;
    if (added > 0) cache.addOneTimeKeys(holder, added, { reported, ...(held !== undefined && { held }) });
  }

  private async addDelayedEvent(request: MatrixRequest, operation: string, response: MatrixResponse): Promise<void> {
    const { identity, cache } = this.deps;
    const delayId = jsonBodyOf(response)?.delay_id;
    if (typeof delayId !== 'string') return;
    const caller = await identity.callerOf(request);
    const delay =
      operation === 'scheduleDelayed' ? (await request.json()).delay_ms : request.query.get(DELAY_PARAMETER);
    cache.addDelayedEvent(delayedHolder(caller.userId, request.param('roomId')), delayId, Number(delay));
    cache.rememberTransaction(caller, request);
  }

  /** The request may have named a pusher that did not exist, so the next write counts again. */
  private async countPushersAfterDeletion(request: MatrixRequest): Promise<void> {
    const { identity, caps } = this.deps;
    const { kind } = await request.json();
    if (kind === null) caps.ledger.invalidate(caps.pushers, (await identity.callerOf(request)).userId);
  }

  private async updateDelayedEvent(request: MatrixRequest): Promise<void> {
    const { cache, caps } = this.deps;
    const action = request.params.action ?? (await request.json(undefined, { optional: true })).action;
    const delayId = request.param('delayId');
    if (action === 'restart') return cache.restartDelayedEvent(delayId);
    const holder = cache.endDelayedEvent(delayId);
    if (holder !== undefined) caps.ledger.free(caps.delayedEvents, holder);
  }
}

const scopeIn = (request: MatrixRequest): string => request.params.roomId ?? GLOBAL_SCOPE;
