import type { AdmissionChain, UserInfo } from '../admission.js';
import { denied, webhookTimeout, type Denial } from '../admission.js';
import {
  ApiError,
  conflict,
  internalError,
  overloaded,
  serviceUnavailable,
  tooManyRequests,
  type Subject,
} from '../api-error.js';
import { refusalOf, attributesOf } from '../auth/authorizer.js';
import type { SandboxClock } from '../clock.js';
import { continueTooOld, decodeContinue } from '../requests/continue-token.js';
import type { RequestInfo } from '../requests/request-info.js';
import { matchesRequest, type RequestMatcher } from '../requests/request-matcher.js';
import type { ObjectStore } from '../object-store.js';
import type { Disruption, ResetMoment } from './disruption.js';
import { ScheduleCounter, type FaultSchedule } from './fault-schedule.js';

/** An open watch. */
export interface OpenWatch {
  /** The name of the watched resource. */
  readonly resource: string;
  /** Ends the stream like a timeout of the server. */
  finish(): void;
  /** Ends the stream with 410. */
  expire(): void;
  /** Breaks the connection in the middle of a line. */
  cutMidLine(): void;
}

/** The parts of the server in which faults are injected. */
export interface FaultTargets {
  store: ObjectStore;
  admission: AdmissionChain;
  clock: SandboxClock;
  /** The open watches. */
  watches: ReadonlySet<OpenWatch>;
  stop(): Promise<void>;
  start(): Promise<void>;
}

type FailureCode = 409 | 429 | 500 | 503;

/** A webhook that answers late. */
export interface SlowWebhook {
  /** `virtualmachine-validator.kubevirt.io` */
  name: string;
  /** `https://virt-api.kubevirt.svc:443/virtualmachines-validate` */
  url: string;
  /** How long it takes, in the time of the sandbox. */
  delayMs: number;
  /** How long the server waits for it before it refuses the request. Default 10, that of KubeVirt's webhooks. */
  timeoutSeconds?: number;
}

interface Rule {
  matcher: RequestMatcher;
  schedule: ScheduleCounter;
  /** Further requirements of the fault; requests without them do not count. */
  concerns?: (info: RequestInfo) => boolean;
  /** @throws ApiError to refuse the request */
  disrupt(disruption: Disruption, info: RequestInfo, user: UserInfo): void;
}

/** Removes a fault. */
export type ClearFault = () => void;

/** The verbs whose objects pass admission webhooks. */
const ADMITTED_VERBS = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

/** Injects failures that occur in real clusters. */
export class Faults {
  private rules: Rule[] = [];
  private eventRules: Pick<Rule, 'matcher' | 'schedule'>[] = [];
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
    return this.add(matcher, {}, (disruption) => {
      disruption.delayMs += delayMs;
    });
  }

  /** The next `times` matching requests fail with 409, 429, 500 or 503 before they have any effect. */
  failNext(matcher: RequestMatcher, code: FailureCode, times = Infinity, retryAfterSeconds = 1): ClearFault {
    return this.add(matcher, { times }, (_disruption, info) => {
      throw failure(code, info, retryAfterSeconds);
    });
  }

  /** Matching requests are refused with 429 by API Priority and Fairness, before they have any effect. */
  overload(matcher: RequestMatcher, schedule: FaultSchedule = {}, retryAfterSeconds = 1): ClearFault {
    return this.add(matcher, schedule, () => {
      throw overloaded(retryAfterSeconds);
    });
  }

  /**
   * The connections of matching requests are reset. Watches and other endless answers are reset only `before` they
   * begin.
   */
  reset(matcher: RequestMatcher, moment: ResetMoment, schedule: FaultSchedule = {}): ClearFault {
    const concerns = ({ verb }: RequestInfo): boolean => moment === 'before' || verb !== 'watch';
    return this.add(matcher, schedule, (disruption) => void (disruption.reset ??= moment), concerns);
  }

  /** The connections of matching watches are reset in the middle of an event. The schedule counts events. */
  resetWatches(matcher: RequestMatcher, schedule: FaultSchedule): ClearFault {
    const rule = { matcher, schedule: new ScheduleCounter(schedule) };
    this.eventRules.push(rule);
    return () => {
      this.eventRules = this.eventRules.filter((each) => each !== rule);
    };
  }

  /**
   * Matching requests for a further page of a list get 410, as when the pages before it took longer than the history is
   * kept.
   */
  expirePages(matcher: RequestMatcher, schedule: FaultSchedule = {}): ClearFault {
    const refuse = (_disruption: Disruption, { query }: RequestInfo): void => {
      throw continueTooOld(decodeContinue(query.get('continue') ?? ''));
    };
    return this.add(matcher, schedule, refuse, ({ verb, query }) => verb === 'list' && Boolean(query.get('continue')));
  }

  /** Matching watches that resume at a revision get 410 as their first event. */
  expireWatches(matcher: RequestMatcher, schedule: FaultSchedule = {}): ClearFault {
    const concerns = ({ verb, query }: RequestInfo): boolean =>
      verb === 'watch' && !['', '0'].includes(query.get('resourceVersion') ?? '');
    return this.add(matcher, schedule, (disruption) => void (disruption.isExpired = true), concerns);
  }

  /** Matching writes of objects wait for a webhook, and fail with 500 when it takes longer than the server waits. */
  slowWebhook(matcher: RequestMatcher, webhook: SlowWebhook, schedule: FaultSchedule = {}): ClearFault {
    const concerns = ({ verb, subresource }: RequestInfo): boolean =>
      subresource.length === 0 && ADMITTED_VERBS.has(verb);
    const call = async (): Promise<void> => {
      const { delayMs, timeoutSeconds = 10 } = webhook;
      const timeoutMs = timeoutSeconds * 1000;
      await this.passes(Math.min(delayMs, timeoutMs));
      if (delayMs >= timeoutMs) throw webhookTimeout({ ...webhook, timeoutSeconds });
    };
    return this.add(matcher, schedule, ({ webhooks }) => void webhooks.push(call), concerns);
  }

  /** Matching requests fail with 403, as if the user's role lacked the rule. */
  forbid(matcher: RequestMatcher): ClearFault {
    return this.add(matcher, {}, (_disruption, info, user) => {
      throw refusalOf(attributesOf(info, user));
    });
  }

  /**
   * An admission webhook of this name denies matching writes. The matcher's resource, namespace, name, subresource and
   * verb count.
   */
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
    this.eventRules = [];
    this.admissionRules = [];
  }

  /** Called for each request. @throws ApiError */
  apply(info: RequestInfo, user: UserInfo): Disruption {
    const disruption: Disruption = { delayMs: 0, webhooks: [] };
    const path = countedPath(info);
    if (info.verb === 'watch') disruption.resetsEvent = () => this.resetsEvent(info, user, path);
    for (const { matcher, schedule, concerns, disrupt } of this.rules) {
      if (!matchesRequest(matcher, info, user) || concerns?.(info) === false || !schedule.next(path)) continue;
      disrupt(disruption, info, user);
    }
    return disruption;
  }

  private resetsEvent(info: RequestInfo, user: UserInfo, path: string): boolean {
    const rules = this.eventRules.filter(({ matcher }) => matchesRequest(matcher, info, user));
    // Each of the rules counts the event.
    return rules.filter(({ schedule }) => schedule.next(path)).length > 0;
  }

  private passes(ms: number): Promise<void> {
    return new Promise((resolve) => this.targets.clock.schedule(resolve, ms));
  }

  private add(
    matcher: RequestMatcher,
    schedule: FaultSchedule,
    disrupt: Rule['disrupt'],
    concerns?: Rule['concerns'],
  ): ClearFault {
    const rule: Rule = { matcher, schedule: new ScheduleCounter(schedule), disrupt, ...(concerns && { concerns }) };
    this.rules.push(rule);
    return () => {
      this.rules = this.rules.filter((each) => each !== rule);
    };
  }

  private eachWatch(resource: string | undefined, act: (watch: OpenWatch) => void): number {
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

/** The last part of a name that the API server or a client has generated. */
const RANDOM_END = /-([bcdfghjklmnpqrstvwxz2456789]{5}|[0-9a-f]{8,})(?=\/|$)/g;

/**
 * The verb and the path of a request, the same for generated names that differ in their random end, and the selectors
 * of a list.
 */
function countedPath({ verb, path, query }: RequestInfo): string {
  const selectors = ['labelSelector', 'fieldSelector'].map((name) => query.get(name) ?? '');
  return [verb, path, ...selectors].map((part) => part.replaceAll(RANDOM_END, '-*')).join(' ');
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
