import { GLOBAL_SCOPE } from '../bounds/account-data.bound.js';
import { succeeded } from '../bounds/bound.js';
import type { Caps } from '../bounds/caps.js';
import { DELAY_PARAMETER, delayedHolder } from '../bounds/delayed-event.js';
import type { Caller, Identity } from '../homeserver/identity.port.js';
import { type Answer, answeredObject } from '../wire/answer.js';
import type { MatrixRequest } from '../wire/matrix-request.js';
import type { AnswerObserver, Interest } from './gateway-homeserver.js';
import type { SeenHoldings } from './seen-holdings.js';
import { filterPrint } from './upstream-holdings.js';

const READ = new Set(['createFilter', 'scheduleDelayed']);
const MAY_SCHEDULE = new Set(['send', 'setState']);
const SEEN = new Set([
  'getFilter',
  'setAccountData',
  'setRoomAccountData',
  'deleteAccountData',
  'deleteRoomAccountData',
  'manageDelayed',
]);

/** Learns from the upstream's answers what callers hold now. */
export class WatchAnswers implements AnswerObserver {
  constructor(
    private readonly identity: Identity,
    private readonly seen: SeenHoldings,
    private readonly caps: () => Caps,
    /** Whether a GET with the caller's token finds something under a path. */
    private readonly exists: (request: MatrixRequest, path: string) => Promise<boolean>,
  ) {}

  interest(request: MatrixRequest, operation: string): Interest {
    if (MAY_SCHEDULE.has(operation)) return request.hasQuery(DELAY_PARAMETER) ? 'body' : 'none';
    if (READ.has(operation)) return 'body';
    return SEEN.has(operation) ? 'status' : 'none';
  }

  async observe(request: MatrixRequest, operation: string, answer: Answer): Promise<void> {
    if (succeeded(answer)) await this.learn(request, operation, answer);
  }

  private async learn(request: MatrixRequest, operation: string, answer: Answer): Promise<void> {
    switch (operation) {
      case 'createFilter':
        return this.learnFilter(await this.identity.callerOf(request), request, answer);
      case 'getFilter':
        return this.seen.addFilter(request.param('userId'), request.param('filterId'), undefined);
      case 'setAccountData':
      case 'setRoomAccountData':
        if (await this.wasDeletion(request)) return this.learnDeleted(request);
        return this.seen.addAccountData(request.param('userId'), scope(request), request.param('type'));
      case 'deleteAccountData':
      case 'deleteRoomAccountData':
        return this.learnDeleted(request);
      case 'send':
      case 'setState':
      case 'scheduleDelayed':
        return this.learnDelayed(request, operation, answer);
      case 'manageDelayed':
        return this.learnManaged(request);
    }
  }

  /** Some homeservers take an empty object for a deletion, the others keep it like any other. */
  private async wasDeletion(request: MatrixRequest): Promise<boolean> {
    if (Object.keys(await request.json()).length > 0) return false;
    const [path = ''] = request.target.split('?', 1);
    return this.exists(request, path).then(
      (found) => !found,
      () => false,
    );
  }

  private learnDeleted(request: MatrixRequest): void {
    this.seen.removeAccountData(request.param('userId'), scope(request), request.param('type'));
    this.caps().ledger.invalidate(this.caps().accountData, request.param('userId'));
  }

  private async learnFilter(caller: Caller, request: MatrixRequest, answer: Answer): Promise<void> {
    const id = answeredObject(answer)?.filter_id;
    if (typeof id === 'string') this.seen.addFilter(caller.userId, id, filterPrint(await request.json()));
  }

  private async learnDelayed(request: MatrixRequest, operation: string, answer: Answer): Promise<void> {
    const delayId = answeredObject(answer)?.delay_id;
    if (typeof delayId !== 'string') return;
    const caller = await this.identity.callerOf(request);
    const delay =
      operation === 'scheduleDelayed' ? (await request.json()).delay_ms : request.query.get(DELAY_PARAMETER);
    this.seen.addDelayedEvent(delayedHolder(caller.userId, request.param('roomId')), delayId, Number(delay));
    this.seen.rememberTransaction(caller, request);
  }

  private async learnManaged(request: MatrixRequest): Promise<void> {
    const action = request.params.action ?? (await request.json(undefined, { optional: true })).action;
    const delayId = request.param('delayId');
    if (action === 'restart') return this.seen.restartDelayedEvent(delayId);
    const holder = this.seen.endDelayedEvent(delayId);
    if (holder !== undefined) this.caps().ledger.free(this.caps().delayedEvents, holder);
  }
}

const scope = (request: MatrixRequest): string => request.params.roomId ?? GLOBAL_SCOPE;
