import type { RateAlgorithm } from '@headgate/limits-core';
import type { Maybe } from './maybe.js';

/** The kinds of requests that rules can count. */
export const RULE_EVENTS = [
  'login',
  'registration',
  'ring',
  'openid_token',
  'sfu_credential',
  'message',
  'state',
  'join',
  'invite',
  'create_room',
  'upload',
  'federation',
  'interactive_auth',
  'request_token',
  'guest_registration',
  'register_available',
  'download',
  'key_query',
  'key_claim',
  'user_directory',
  'rendezvous',
  'auth_login',
  'auth_registration',
  'auth_recovery',
  'auth_api',
  'oauth_token',
  'oauth_client',
  'device_code',
  'device_link',
] as const;

export type RuleEvent = (typeof RULE_EVENTS)[number];

/** What a rule counts separately: each value has a budget of its own. `server` is one budget for everyone. */
export const RULE_KEYS = [
  'account',
  'account_source',
  'source',
  'user',
  'room',
  'origin',
  'target_server',
  'recipient',
  'server',
] as const;

export type RuleKey = (typeof RULE_KEYS)[number];

/** Keys that a caller only names, without a proof that the budget is theirs to use. */
export const isSharedKey = (by: RuleKey): boolean =>
  by === 'room' || by === 'target_server' || by === 'recipient' || by === 'server' || by === 'origin';

/** Events whose length in bytes rules can count. */
export const hasBytes = (event: RuleEvent): boolean => event === 'upload' || event === 'download';

/** Events that have failures: attempts to prove something. */
export const hasFailures = (event: RuleEvent): boolean =>
  event === 'login' || event === 'interactive_auth' || event === 'auth_login';

/**
 * Which requests count. `every`: all that are not refused, by a rule or, under a key that callers share, by the
 * homeserver for lack of a right (401, 403). `failures`: those that the homeserver answers with 403; a success clears
 * the key. `authenticated`: all but those that the homeserver answers with 401, because their key is only a claim until
 * then; under a key that callers share, as `every`. A 403 proves who the origin is, so it counts for an origin, and no
 * other refusal (4xx): homeservers refuse some requests before they verify the signature. For a recipient, no refusal
 * counts: nothing was sent.
 */
export type RuleCounts = 'every' | 'failures' | 'authenticated';

/** What a request takes from a rule's limit: its cost, or its length. */
export type RuleUnit = 'requests' | 'bytes';

/** Longer blocks for keys that keep exceeding a limit. */
export interface RuleBlock {
  /** Refusals within `withinMs` until the key is blocked. */
  readonly after: number;
  readonly withinMs: number;
  /** The length of the first block. Each further one is twice as long, up to `maxMs`. */
  readonly forMs: number;
  readonly maxMs: number;
  /** After this time from the first block, the next one is as short as the first. */
  readonly forgetMs: number;
}

/** Callers that a rule, or every rule, does not apply to. */
export interface Exemptions {
  /** User IDs. */
  readonly users: readonly string[];
  /** IDs of application services, for all requests with their tokens. */
  readonly appservices: readonly string[];
  /** Addresses and CIDRs. */
  readonly networks: readonly string[];
}

/** A rate: at most `limit` of some events per key and window. */
export interface Rule {
  readonly name: string;
  readonly on: readonly RuleEvent[];
  readonly by: RuleKey;
  readonly limit: number;
  readonly windowMs: number;
  readonly algorithm: RateAlgorithm;
  readonly counts: RuleCounts;
  /** `failures` only: whether a success clears the key. Otherwise it counts for nothing. */
  readonly successClears: boolean;
  readonly unit: RuleUnit;
  /** The cost of one request of each event, where it is not 1. */
  readonly costs: Readonly<Partial<Record<RuleEvent, number>>>;
  readonly block?: RuleBlock | undefined;
  readonly exempt: Exemptions;
  /** Counts and reports, but refuses nothing. */
  readonly shadow: boolean;
}

/** Every rule, and the callers that none of them applies to. */
export interface RuleSet {
  readonly rules: readonly Rule[];
  readonly exempt: Exemptions;
}

/** One request, or one part of it, as rules see it. Plain data, so that a log of it can be replayed. */
export interface RuleFacts {
  readonly event: RuleEvent;
  /** The caller's address. */
  readonly address: string;
  /** The address, or the network that belongs to one IPv6 caller. */
  readonly source: string;
  /** The account of a login. */
  readonly account?: string | undefined;
  /** The identified user. */
  readonly user?: string | undefined;
  /** The ID of the application service whose token the request carries. */
  readonly appservice?: string | undefined;
  readonly room?: string | undefined;
  /** The server that sends a federation request. */
  readonly origin?: string | undefined;
  /** The server of an invited user. */
  readonly targetServer?: string | undefined;
  /** The keyed digest of the email address or phone number that a token is sent to. */
  readonly recipient?: string | undefined;
  /** The length of an upload, or of the response to a download. */
  readonly bytes?: number | undefined;
  /** How many users or devices are asked for; 1 when left out. */
  readonly amount?: number | undefined;
  /** The path of the request, without its query. Reports show it, and no rule depends on it. */
  readonly path?: string | undefined;
  /** The facts of a response, of which only the bytes count: the request has been counted. */
  readonly isResponse?: true | undefined;
}

/**
 * How the homeserver handled a request, for rules that do not count every one. `rejected`: refused with another status
 * than 401 and 403 (4xx). `lost`: the process that handled the request was killed, so the homeserver may have done
 * everything; it counts.
 */
export type RequestOutcome = 'success' | 'forbidden' | 'unauthenticated' | 'rejected' | 'other' | 'lost';

/** Why a request is refused, or would be. */
export interface RuleRefusal {
  readonly granted: false;
  readonly rule: string;
  readonly event: RuleEvent;
  readonly by: RuleKey;
  /** The value that has no budget left. */
  readonly key: string;
  readonly limit: number;
  readonly windowMs: number;
  /** `limit`: the limit is used up. `block`: the key exceeded it too often. */
  readonly reason: 'limit' | 'block';
  readonly retryAfterMs: number;
}

/** A request that passed every rule. Settle it with its outcome. */
export interface Admission {
  readonly granted: true;
  /** The outcome changes nothing: the request has counted already, or no rule counts it. */
  readonly isSettled?: true;
  settle(outcome: RequestOutcome): Maybe<void>;
}
