import type { AdmissionChain, UserInfo } from '../admission.js';
import { denied, type Denial } from '../admission.js';
import { ApiError, conflict, internalError, serviceUnavailable, tooManyRequests, type Subject } from '../api-error.js';
import { refusalOf, attributesOf } from '../auth/authorizer.js';
import type { RequestInfo } from '../http/request-info.js';
import { matchesRequest, type RequestMatcher } from '../http/request-matcher.js';
import type { WatchSession } from '../http/watch-session.js';
import type { ObjectStore } from '../object-store.js';

/** The parts of the server in which faults are injected. */
export interface FaultTargets {
  store: ObjectStore;
  admission: AdmissionChain;
  /** The open watches. */
  watches: Set<WatchSession>;
  stop(): Promise<void>;
  start(): Promise<void>;
}

type FailureCode = 409 | 429 | 500 | 503;

interface Rule {
  matcher: RequestMatcher;
  /** How many more requests it affects. */
  remaining: number;
  delayMs: number;
  refuse?: (info: RequestInfo, user: UserInfo) => ApiError;
}

/** Removes a fault. */
export type ClearFault = () => void;

const FOREVER = Infinity;

/** Injects failures that occur in real clusters. */
export class Faults {
  private rules: Rule[] = [];
  private admissionRules: { matcher: RequestMatcher; denial: Denial; webhook: string }[] = [];

  constructor(private readonly targets: FaultTargets) {
    targets.admission.addValidating({
      name: 'faults.sandbox',
      resources: ['*'],
      subresources: ['*'],
      operations: ['CREATE', 'UPDATE', 'DELETE'],
      admit: ({ operation, resource, namespace, name, subresource }) =>
        this.refuseAdmitted({ operation, resource, namespace, name, subresource }),
    });
  }

  /** Stops the server: closes its port and every connection. */
  serverDown(): Promise<void> {
    return this.targets.stop();
  }

  /** Restarts the server on the same port, with all its objects. */
  serverUp(): Promise<void> {
    return this.targets.start();
  }

  /** Delays matching requests by real milliseconds. */
  delay(matcher: RequestMatcher, delayMs: number): ClearFault {
    return this.add({ matcher, delayMs, remaining: FOREVER });
  }

  /** The next `times` matching requests fail with 409, 429, 500 or 503 before they have any effect. */
  failNext(matcher: RequestMatcher, code: FailureCode, times = FOREVER, retryAfterSeconds = 1): ClearFault {
    return this.add({
      matcher,
      delayMs: 0,
      remaining: times,
      refuse: (info) => failure(code, info, retryAfterSeconds),
    });
  }

  /** Matching requests fail with 403, as if the user's role lacked the rule. */
  forbid(matcher: RequestMatcher): ClearFault {
    return this.add({
      matcher,
      delayMs: 0,
      remaining: FOREVER,
      refuse: (info, user) => refusalOf(attributesOf(info, user)),
    });
  }

  /** An admission webhook of this name denies matching writes. The matcher's resource, namespace, name, subresource and verb count. */
  refuseAdmission(matcher: RequestMatcher, webhook: string, denial: Denial): ClearFault {
    const rule = { matcher, webhook, denial };
    this.admissionRules.push(rule);
    return () => {
      this.admissionRules = this.admissionRules.filter((each) => each !== rule);
    };
  }

  /** Breaks open watches in the middle of a line. @returns their number */
  cutWatches(resource?: string): number {
    return this.eachWatch(resource, (watch) => watch.cutMidLine());
  }

  /** Ends open watches cleanly, like a timeout of the server. @returns their number */
  endWatches(resource?: string): number {
    return this.eachWatch(resource, (watch) => watch.finish());
  }

  /** Compacts the history: open watches and resumed ones get 410. @returns the number of open watches */
  expireHistory(resource?: string): number {
    this.targets.store.compact();
    return this.eachWatch(resource, (watch) => watch.expire());
  }

  /** Removes all faults; a stopped server stays stopped. */
  clear(): void {
    this.rules = [];
    this.admissionRules = [];
  }

  /** Called for each request. @returns milliseconds to wait @throws ApiError */
  apply(info: RequestInfo, user: UserInfo): number {
    let delayMs = 0;
    for (const rule of this.rules) {
      if (rule.remaining <= 0 || !matchesRequest(rule.matcher, info, user)) continue;
      rule.remaining--;
      delayMs += rule.delayMs;
      if (rule.refuse) throw rule.refuse(info, user);
    }
    return delayMs;
  }

  private add(rule: Rule): ClearFault {
    this.rules.push(rule);
    return () => {
      this.rules = this.rules.filter((each) => each !== rule);
    };
  }

  private eachWatch(resource: string | undefined, act: (watch: WatchSession) => void): number {
    const chosen = [...this.targets.watches].filter((watch) => resource === undefined || watch.resource === resource);
    chosen.forEach(act);
    return chosen.length;
  }

  private refuseAdmitted({
    operation,
    resource,
    namespace,
    name,
    subresource,
  }: {
    operation: string;
    resource: string;
    namespace?: string;
    name: string;
    subresource?: string;
  }): void {
    const verbs: Record<string, string[]> = {
      CREATE: ['create'],
      UPDATE: ['update', 'patch'],
      DELETE: ['delete', 'deletecollection'],
    };
    for (const { matcher, webhook, denial } of this.admissionRules) {
      const fits = (wanted: string | undefined, actual: string | undefined) =>
        wanted === undefined || wanted === actual;
      const verbFits =
        matcher.verb === undefined || [matcher.verb].flat().some((verb) => verbs[operation]?.includes(verb));
      const { namespace: ns, name: n, subresource: s } = matcher;
      if (verbFits && fits(matcher.resource, resource) && fits(ns, namespace) && fits(n, name) && fits(s, subresource))
        throw denied(webhook, denial);
    }
  }
}

function failure(code: FailureCode, { group, resource, name }: RequestInfo, retryAfterSeconds: number): ApiError {
  const subject: Subject = { group, resource, name };
  switch (code) {
    case 409:
      return conflict(subject);
    case 429:
      return tooManyRequests(retryAfterSeconds);
    case 500:
      return internalError('etcdserver: request timed out');
    case 503:
      return serviceUnavailable();
  }
}
