import type { AdmissionChain, UserInfo } from '../admission.js';
import { denied, type Denial } from '../admission.js';
import { ApiError, conflict, internalError, serviceUnavailable, tooManyRequests, type Subject } from '../api-error.js';
import { refusalOf, attributesOf } from '../auth/authorizer.js';
import type { RequestInfo } from '../http/request-info.js';
import { matchesRequest, type RequestMatcher } from '../http/request-matcher.js';
import type { WatchSession } from '../http/watch-session.js';
import type { ObjectStore } from '../object-store.js';

/** What the faults reach into. */
export interface FaultTargets {
  store: ObjectStore;
  admission: AdmissionChain;
  /** The watches that are open. */
  watches: Set<WatchSession>;
  stop(): Promise<void>;
  start(): Promise<void>;
}

type StormCode = 409 | 429 | 500 | 503;

interface Rule {
  matcher: RequestMatcher;
  /** How often it still strikes. */
  remaining: number;
  delayMs: number;
  refuse?: (info: RequestInfo, user: UserInfo) => ApiError;
}

/** Takes a fault back. */
export type Heal = () => void;

const FOREVER = Infinity;

/** Makes the server fail in the ways in which real ones do. */
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

  /** The server is gone: its port is closed and every connection is cut. */
  serverDown(): Promise<void> {
    return this.targets.stop();
  }

  /** The server is back on the same port, with everything it held. */
  serverUp(): Promise<void> {
    return this.targets.start();
  }

  /** Requests that fit take this much longer, in real milliseconds. */
  delay(matcher: RequestMatcher, delayMs: number): Heal {
    return this.add({ matcher, delayMs, remaining: FOREVER });
  }

  /** The next `times` requests that fit are answered 409, 429, 500 or 503 without being carried out. */
  storm(matcher: RequestMatcher, code: StormCode, times = FOREVER, retryAfterSeconds = 1): Heal {
    return this.add({
      matcher,
      delayMs: 0,
      remaining: times,
      refuse: (info) => stormError(code, info, retryAfterSeconds),
    });
  }

  /** Requests that fit are answered 403, as if the user's role lacked the rule. */
  forbid(matcher: RequestMatcher): Heal {
    return this.add({
      matcher,
      delayMs: 0,
      remaining: FOREVER,
      refuse: (info, user) => refusalOf(attributesOf(info, user)),
    });
  }

  /** Writes that fit are refused by an admission webhook of this name. Matchers look at resource, namespace, name, subresource and verb. */
  refuseAdmission(matcher: RequestMatcher, webhook: string, denial: Denial): Heal {
    const rule = { matcher, webhook, denial };
    this.admissionRules.push(rule);
    return () => {
      this.admissionRules = this.admissionRules.filter((each) => each !== rule);
    };
  }

  /** Breaks open watches in the middle of a line. @returns how many */
  cutWatches(resource?: string): number {
    return this.eachWatch(resource, (watch) => watch.cutMidLine());
  }

  /** Ends open watches cleanly, as a server does when their time is up. @returns how many */
  endWatches(resource?: string): number {
    return this.eachWatch(resource, (watch) => watch.finish());
  }

  /** Forgets the history: open watches are told 410, and whoever resumes from before is answered 410. @returns how many were open */
  expireHistory(resource?: string): number {
    this.targets.store.compact();
    return this.eachWatch(resource, (watch) => watch.expire());
  }

  /** Takes every fault back; a server that is down stays down. */
  heal(): void {
    this.rules = [];
    this.admissionRules = [];
  }

  /** Called for each request. @returns milliseconds to wait @throws ApiError */
  strike(info: RequestInfo, user: UserInfo): number {
    let delayMs = 0;
    for (const rule of this.rules) {
      if (rule.remaining <= 0 || !matchesRequest(rule.matcher, info, user)) continue;
      rule.remaining--;
      delayMs += rule.delayMs;
      if (rule.refuse) throw rule.refuse(info, user);
    }
    return delayMs;
  }

  private add(rule: Rule): Heal {
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

function stormError(code: StormCode, { group, resource, name }: RequestInfo, retryAfterSeconds: number): ApiError {
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
