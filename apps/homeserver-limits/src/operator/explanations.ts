import { isIP } from 'node:net';
import { countsOutcome, type Rule, ruleKeyOf } from '@headgate/limit-rules';
import { MemoryRateLimiter, RateLimiter, type WindowState } from '@headgate/limits-core';
import { sourceKey } from '@headgate/limits-nest';
import { accountKey } from '@headgate/matrix-protocol';
import { LiveConfig } from '../config/live-config.js';
import { type RecentRequest, RecentRequests } from '../reports/recent-requests.js';
import { type RefusalEntry, RefusalLog } from '../reports/refusal-log.js';
import { Overrides } from '../state/overrides.js';
import { type Subject, concerns, keysOf } from './subject.js';

/** Keys of one rule that a subject has used, such as rooms. */
const MAX_KEYS = 20;
const MAX_REQUESTS = 50;
const MAX_REFUSALS = 50;

/** A request in an explanation. */
export interface ExplainedRequest {
  /** ISO 8601. */
  readonly time: string;
  readonly event: string;
  readonly path?: string | undefined;
  readonly address: string;
  readonly user?: string | undefined;
  /** Whether it has used some of the limit; null while the homeserver has not answered. */
  readonly counted: boolean | null;
  /** The rule that refused it. */
  readonly refusedBy?: string | undefined;
}

/** One key of one rule that decides on the subject's requests. */
export interface Explanation extends Pick<WindowState, 'counted' | 'inFlight' | 'closesInMs' | 'shared'> {
  readonly rule: string;
  readonly by: string;
  readonly key: string;
  readonly shadow: boolean;
  readonly limit: number;
  readonly windowMs: number;
  /** How long the key is blocked; 0 when it is not. */
  readonly blockedForMs: number;
  /** Whether the next request would be refused. */
  readonly isFull: boolean;
  /** The latest requests under this key in the present window, the newest first. */
  readonly requests: readonly ExplainedRequest[];
}

/** Finds out why the requests of a user, an account or an address are refused. */
export class Explanations {
  constructor(
    private readonly windows: MemoryRateLimiter,
    private readonly store: RateLimiter,
    private readonly config: LiveConfig,
    private readonly overrides: Overrides,
    private readonly recent: RecentRequests,
    private readonly refusals: RefusalLog,
  ) {}

  /** @param text a user ID, a user name, an address, or the key of an account */
  async of(text: string): Promise<{ rules: Explanation[]; refusals: RefusalEntry[] }> {
    const subject = this.subjectOf(text);
    const requests = [...this.recent.latest()];
    const own = requests.filter(({ facts }) => facts.some((part) => concerns(subject, part)));
    const { rules } = this.config.current.rules;
    const pairs = rules.flatMap((rule) => [...this.keysOf(rule, subject, own)].map((key) => ({ rule, key })));
    const explained = await Promise.all(pairs.map(({ rule, key }) => this.explain(rule, key, requests)));
    const keys = new Set(explained.map(({ key }) => key));
    const refusals = this.refusals
      .latest()
      .filter(({ key, user, address }) => keys.has(key ?? '') || user === subject.user || address === text);
    return {
      rules: explained.filter(({ counted, inFlight, blockedForMs }) => counted + inFlight + blockedForMs > 0),
      refusals: refusals.slice(0, MAX_REFUSALS),
    };
  }

  private subjectOf(text: string): Subject {
    const { server } = this.config.current;
    const address = isIP(text) === 0 ? undefined : text;
    return {
      text,
      user: text.startsWith('@') ? text : `@${text}:${server.name}`,
      account: address === undefined ? accountKey({ user: text }, server.name) : undefined,
      source: address === undefined ? text : sourceKey(address, server.ipv6_prefix),
    };
  }

  private keysOf(rule: Rule, subject: Subject, own: readonly RecentRequest[]): Set<string> {
    const keys = new Set(keysOf(rule.by, subject));
    for (const { facts } of own) {
      for (const part of facts) {
        if (keys.size >= MAX_KEYS) return keys;
        const key = rule.on.includes(part.event) && concerns(subject, part) ? ruleKeyOf(rule.by, part) : undefined;
        if (key !== undefined) keys.add(key);
      }
    }
    return keys;
  }

  private async explain(rule: Rule, key: string, requests: readonly RecentRequest[]): Promise<Explanation> {
    const { name, by, shadow, windowMs } = rule;
    const rate = this.windows.rate(name);
    const { counted, inFlight, closesInMs, shared, limit } = rate
      ? await this.store.peek(rate, key)
      : { counted: 0, inFlight: 0, closesInMs: 0, shared: false, limit: rule.limit };
    const block = this.windows.rate(`${name}.block`);
    const blockedForMs = block ? (await this.store.peek(block, key)).closesInMs : 0;
    const own = limit * this.overrides.factorOf(this.config.current.rules.rules, name, key);
    return {
      rule: name,
      by,
      key,
      shadow,
      windowMs,
      limit: own,
      counted,
      inFlight,
      closesInMs,
      shared,
      blockedForMs,
      isFull: blockedForMs > 0 || counted + inFlight >= own,
      requests: counted + inFlight + blockedForMs > 0 ? requestsUnder(rule, key, requests) : [],
    };
  }
}

function requestsUnder(rule: Rule, key: string, requests: readonly RecentRequest[]): ExplainedRequest[] {
  const found: ExplainedRequest[] = [];
  const since = (requests[0]?.timeMs ?? 0) - rule.windowMs;
  for (const { timeMs, facts, refusedBy, outcome } of requests) {
    if (found.length >= MAX_REQUESTS || timeMs < since) break;
    const part = facts.find((one) => rule.on.includes(one.event) && ruleKeyOf(rule.by, one) === key);
    if (!part) continue;
    const { event, path, address, user } = part;
    const isOpen = refusedBy === undefined && outcome === undefined;
    const counted = refusedBy === undefined && outcome !== undefined && countsOutcome(rule, outcome);
    found.push({
      time: new Date(timeMs).toISOString(),
      event,
      path,
      address,
      user,
      counted: isOpen ? null : counted,
      refusedBy,
    });
  }
  return found;
}
