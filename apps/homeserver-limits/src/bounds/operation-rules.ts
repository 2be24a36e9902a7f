import {
  type Caller,
  type Classified,
  DEFAULT_JSON_LIMIT_BYTES,
  type Directory,
  type Identity,
  type MatrixRequest,
  type MatrixResponse,
  readingsOfTarget,
  TRANSACTION_LIMIT_BYTES,
  UPLOAD_LIMIT_BYTES,
} from '@headgate/homeserver-contracts';
import type { RuleEvent } from '@headgate/limit-rules';
import { isJsonObject, parseUserId, parseXMatrix } from '@headgate/matrix-protocol';
import type { RulePart, Rules } from '../rules/rules.js';
import type { Next } from './bound.js';
import { factsOf } from './caller-facts.js';
import type { CountedRules } from './counted-rules.js';
import { Turns } from './turns.js';

const MEMBER = 'm.room.member';
const JOIN_OPERATIONS = ['joinRoom', 'joinByName', 'knock'];
const UPLOAD_OPERATIONS = ['upload', 'uploadTo'];

/** The events that a request may turn out to be. */
const EVENTS_OF: Readonly<Record<string, readonly RuleEvent[]>> = {
  send: ['message'],
  scheduleDelayed: ['message'],
  redact: ['message'],
  setState: ['state', 'join', 'invite'],
  invite: ['invite'],
  createRoom: ['create_room', 'invite'],
  upgradeRoom: ['create_room'],
  ...Object.fromEntries(UPLOAD_OPERATIONS.map((operation) => [operation, ['upload']])),
  ...Object.fromEntries(JOIN_OPERATIONS.map((operation) => [operation, ['join']])),
};

const NO_EVENTS: readonly RuleEvent[] = [];

/** A request that is not refused for its path. */
type ClassifiedRequest = Exclude<Classified<string>, { kind: 'ambiguous' }>;

const operationOf = (classified: ClassifiedRequest): string | undefined =>
  classified.kind === 'matched' ? classified.match.operation : undefined;

/**
 * The rules on requests that the contract leaves unbounded. They run before the request's own bound; those on
 * federation run after it. Without a rule, nothing is read and no caller is identified. Under a key that callers share,
 * a request takes its place once its body is here: a slow sender must not hold it. Each user holds one at a time.
 */
export class OperationRules {
  private readonly turns = new Turns();

  constructor(
    private readonly rules: Rules,
    private readonly identity: Identity,
    private readonly directory: Directory,
    private readonly counted: Pick<CountedRules, 'operationOf' | 'run'>,
  ) {}

  /** @param bound runs the request's own bound */
  run(
    request: MatrixRequest,
    classified: ClassifiedRequest,
    next: Next,
    bound: (next: Next) => Promise<MatrixResponse> = (handle) => handle(),
  ): Promise<MatrixResponse> {
    const operation = operationOf(classified);
    if (this.countsPeer(classified)) return bound(() => this.runAsPeer(request, classified, next));
    const events = this.eventsOf(operation);
    const handle = () => bound(next);
    if (events.length > 0) return this.runAsUser(request, operation ?? '', events, handle);
    const counted = this.counted.operationOf(request.method, request.target);
    return counted === undefined ? handle() : this.counted.run(request, counted, handle);
  }

  /** Whether any rule counts such a request, or its facts are recorded. @param target as received */
  applyTo(classified: ClassifiedRequest, method: string, target: string): boolean {
    if (this.eventsOf(operationOf(classified)).length > 0 || this.countsPeer(classified)) return true;
    return this.counted.operationOf(method, target) !== undefined;
  }

  private eventsOf(operation: string | undefined): readonly RuleEvent[] {
    const events = operation === undefined ? undefined : EVENTS_OF[operation];
    return events === undefined ? NO_EVENTS : events.filter((event) => this.rules.count(event));
  }

  /** Counts a path that any server behind the gateway could read as federation. */
  private countsPeer({ target }: ClassifiedRequest): boolean {
    return this.rules.count('federation') && readingsOfTarget(target).some(isFederation);
  }

  private async runAsPeer(request: MatrixRequest, classified: ClassifiedRequest, next: Next): Promise<MatrixResponse> {
    if (request.hasBody && this.rules.share('federation')) await request.bytes(TRANSACTION_LIMIT_BYTES);
    return this.rules.run(request, [{ event: 'federation', origin: originOf(request, classified) }], next);
  }

  private async runAsUser(
    request: MatrixRequest,
    operation: string,
    events: readonly RuleEvent[],
    next: Next,
  ): Promise<MatrixResponse> {
    const parts = (await partsOf(request, operation)).filter(({ event }) => events.includes(event));
    if (parts.length === 0) return next();
    const needsUser = parts.some(({ event }) => this.rules.needUser(event));
    const caller = needsUser ? await this.identity.callerOf(request) : await this.callerForRecord(request);
    if (caller?.exemptFromRates) return next();
    const facts = caller ? factsOf(caller) : {};
    const located = await Promise.all(parts.map((part) => this.locate(part, request)));
    const run = () =>
      this.rules.run(
        request,
        located.map((part) => ({ ...part, ...facts })),
        next,
      );
    const keys = located.flatMap(({ event }) => this.rules.sharedKeysOf(event));
    if (keys.length === 0 || !caller || UPLOAD_OPERATIONS.includes(operation)) return run();
    await request.bytes(DEFAULT_JSON_LIMIT_BYTES);
    // Otherwise one stranger with many parallel requests could hold every place.
    const room = keys.every((by) => by === 'room') ? (located[0]?.room ?? '') : '';
    return this.turns.run(`${caller.userId} ${room}`, run);
  }

  /** A room has one budget, whether a request names its ID or an alias. */
  private async locate(part: RulePart, request: MatrixRequest): Promise<RulePart> {
    const { room, event } = part;
    if (room?.startsWith('#') !== true || !(this.rules.sharedKeysOf(event).includes('room') || this.rules.isRecording))
      return part;
    return { ...part, room: (await this.directory.roomOf(room, request)) ?? room };
  }

  /** A request whose user is only recorded is never refused because the user is unknown. */
  private callerForRecord(request: MatrixRequest): Promise<Caller | undefined> | undefined {
    return this.rules.isRecording ? this.identity.callerOf(request).catch(() => undefined) : undefined;
  }
}

/** What a request does. */
async function partsOf(request: MatrixRequest, operation: string): Promise<RulePart[]> {
  const { roomId: room, roomIdOrAlias } = request.params;
  switch (operation) {
    case 'setState':
      return request.param('eventType') === MEMBER ? [await membershipIn(request)] : [{ event: 'state', room }];
    case 'invite':
      return [inviteOf((await request.json()).user_id, room)];
    case 'createRoom':
      return roomParts(await request.json(undefined, { optional: true }));
    case 'upgradeRoom':
      return [{ event: 'create_room' }];
    case 'upload':
    case 'uploadTo':
      return [{ event: 'upload', bytes: uploadLength(request) }];
    default:
      return JOIN_OPERATIONS.includes(operation)
        ? [{ event: 'join', room: room ?? roomIdOrAlias }]
        : [{ event: 'message', room }];
  }
}

/** Memberships are state events, so an invite may also be sent as one. */
async function membershipIn(request: MatrixRequest): Promise<RulePart> {
  const { roomId: room, stateKey } = request.params;
  const { membership } = await request.json();
  if (membership === 'invite') return inviteOf(stateKey, room);
  return membership === 'join' || membership === 'knock' ? { event: 'join', room } : { event: 'state', room };
}

function roomParts({ invite, invite_3pid: invite3pid }: Record<string, unknown>): RulePart[] {
  const invites = [invite, invite3pid].flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []));
  return [
    { event: 'create_room' },
    ...invites.map((user) => inviteOf(isJsonObject(user) ? undefined : user, undefined)),
  ];
}

/** An invite by email address has no target server. */
const inviteOf = (userId: unknown, room: string | undefined): RulePart => ({
  event: 'invite',
  room,
  targetServer: parseUserId(userId)?.server,
});

/** An upload of unknown length counts as the longest one. */
function uploadLength({ raw }: MatrixRequest): number {
  const declared = Number(raw.headers['content-length'] ?? UPLOAD_LIMIT_BYTES);
  return Math.min(declared, UPLOAD_LIMIT_BYTES);
}

const isFederation = ([root, api]: readonly string[]): boolean => root === '_matrix' && api === 'federation';

/** Endpoints of federation that homeservers answer without verifying who asks; Dendrite also its `publicRooms`. */
const UNSIGNED = new Set(['version', 'openid', 'publicRooms', '3pid']);

/**
 * The server that a request claims to come from; undefined where the homeserver does not verify it. Elsewhere, its
 * answer says whether the claim is right.
 */
function originOf({ raw }: MatrixRequest, { target }: ClassifiedRequest): string | undefined {
  const isUnsigned = readingsOfTarget(target).some(
    ([, , , endpoint]) => endpoint !== undefined && UNSIGNED.has(endpoint),
  );
  return isUnsigned ? undefined : parseXMatrix(raw.headers.authorization ?? '')?.origin;
}
