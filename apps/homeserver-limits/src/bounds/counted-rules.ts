import {
  type Caller,
  type CountedOperation,
  CountedPaths,
  DEFAULT_JSON_LIMIT_BYTES,
  type Identity,
  KEYS_LIMIT_BYTES,
  type MatrixRequest,
  type MatrixResponse,
} from '@headgate/homeserver-contracts';
import type { RequestOutcome, RuleEvent } from '@headgate/limit-rules';
import type { RulePart, Rules } from '../rules/rules.js';
import type { RecipientKeys } from '../state/recipient-keys.js';
import type { Next } from './bound.js';
import { factsOf } from './caller-facts.js';
import { countedPart } from './counted-part.js';
import { meterResponse } from './response-meter.js';
import { Turns } from './turns.js';

const EVENT_OF: Readonly<Record<CountedOperation, RuleEvent>> = {
  requestEmailToken: 'request_token',
  requestPhoneToken: 'request_token',
  registerAvailable: 'register_available',
  download: 'download',
  legacyDownload: 'download',
  queryKeys: 'key_query',
  claimKeys: 'key_claim',
  searchUsers: 'user_directory',
  rendezvous: 'rendezvous',
  authLogin: 'auth_login',
  authRegistration: 'auth_registration',
  authRecovery: 'auth_recovery',
  authApi: 'auth_api',
  oauthToken: 'oauth_token',
  oauthClient: 'oauth_client',
  deviceCode: 'device_code',
  deviceLink: 'device_link',
};
const EVENTS = [...new Set(Object.values(EVENT_OF))];

/** Homeservers accept these without an access token. */
const ANONYMOUS: ReadonlySet<CountedOperation> = new Set([
  'requestEmailToken',
  'requestPhoneToken',
  'registerAvailable',
  'legacyDownload',
  'rendezvous',
  'authLogin',
  'authRegistration',
  'authRecovery',
  'authApi',
  'oauthToken',
  'oauthClient',
  'deviceCode',
  'deviceLink',
]);

/**
 * The Matrix Authentication Service answers a wrong password with its form, and a right one with a redirection. A form
 * without its token against forged requests is refused before the password is verified.
 */
function outcomeOfAuthLogin({ status }: MatrixResponse): RequestOutcome {
  if (status === 303) return 'success';
  return status === 200 ? 'forbidden' : 'other';
}

/** Their bodies are forms. */
const FORMS: ReadonlySet<CountedOperation> = new Set([
  'authLogin',
  'authRegistration',
  'authRecovery',
  'oauthToken',
  'deviceCode',
  'deviceLink',
]);

/** The rules on operations that nothing else depends on. Without such a rule, their paths are not looked up. */
export class CountedRules {
  private readonly paths = new CountedPaths();
  private readonly turns = new Turns();

  constructor(
    private readonly rules: Rules,
    private readonly identity: Identity,
    private readonly recipients: RecipientKeys,
    private readonly serverName: () => string,
  ) {}

  /** The operation of a request that a rule counts, or whose facts are recorded. */
  operationOf(method: string, target: string): CountedOperation | undefined {
    if (!EVENTS.some((event) => this.rules.count(event))) return undefined;
    const operation = this.paths.of(method === 'HEAD' ? 'GET' : method, target);
    return operation !== undefined && this.rules.count(EVENT_OF[operation]) ? operation : undefined;
  }

  async run(request: MatrixRequest, operation: CountedOperation, next: Next): Promise<MatrixResponse> {
    const event = EVENT_OF[operation];
    request.hasForm = FORMS.has(operation);
    const caller = await this.callerOf(request, operation, event);
    if (caller?.exemptFromRates) return next();
    const recipients = this.readsRecipient(event) ? this.recipients : undefined;
    const counted = await countedPart(request, operation, { recipients, serverName: this.serverName() });
    const part: RulePart = { event, ...counted, ...(caller && factsOf(caller)) };
    if (event === 'download') return this.download(request, part, next);
    const outcomeIn = operation === 'authLogin' ? outcomeOfAuthLogin : undefined;
    // The password is verified for a caller who is gone, too, so its answer has to count.
    if (outcomeIn) request.outlivesCaller = true;
    const run = () => this.rules.run(request, [part], next, outcomeIn);
    if (!this.rules.share(event)) return run();
    if (request.hasBody) await request.bytes(event === 'key_query' ? KEYS_LIMIT_BYTES : DEFAULT_JSON_LIMIT_BYTES);
    // A caller who hangs up must not use up a budget of others with requests that the homeserver refuses.
    request.outlivesCaller = true;
    // Otherwise one stranger with many parallel requests could hold every place.
    return this.turns.run(caller?.userId ?? request.source, run);
  }

  /** The bytes of a response count once they are known, before the first of them is sent. */
  private async download(request: MatrixRequest, part: RulePart, next: Next): Promise<MatrixResponse> {
    const response = await this.rules.run(request, [part], next);
    if (!this.rules.countBytes('download') || request.method === 'HEAD') return response;
    return meterResponse(response, async (bytes) => {
      const admission = await this.rules.admit(request, [{ ...part, bytes, isResponse: true }]);
      await admission.settle('success');
    });
  }

  private readsRecipient(event: RuleEvent): boolean {
    return this.rules.isRecording || this.rules.sharedKeysOf(event).includes('recipient');
  }

  /** A request that needs no token is never refused because of one. */
  private async callerOf(
    request: MatrixRequest,
    operation: CountedOperation,
    event: RuleEvent,
  ): Promise<Caller | undefined> {
    const needsUser = this.rules.needUser(event);
    if (!needsUser && !this.rules.isRecording) return undefined;
    const identified = this.identity.callerOf(request);
    return needsUser && !ANONYMOUS.has(operation) ? identified : identified.catch(() => undefined);
  }
}
