import { RateExceeded, type RateKey } from '@headgate/limits-core';
import { BadRequestException, type ExecutionContext } from '@nestjs/common';
import { RateExceededException } from '../errors/limit-exceptions.js';
import { type LimitedRequest, httpRoute } from '../http/http-route.js';
import { onceClosed, outcomeOfClosed } from '../http/outcome.js';
import { type Reply, retryAfterSeconds, setExposedHeaders } from '../http/reply.js';
import type { LimitRules } from '../rules/limit-rules.js';
import { type NamedRateRule, countsEvery, isForbidden } from '../rules/rate-rule.js';
import { Attempt, type ConditionalReservation } from './attempt.js';
import { setQuotaHeaders, setRefusalHeaders } from './rate-limit-headers.js';

interface RuleKey {
  readonly rule: NamedRateRule;
  readonly rateKey: RateKey;
}

/**
 * Applies rules to a request: all of them, or none if one refuses.
 * @throws RateExceededException, BadRequestException if the request has no proper key
 */
export async function enforceRates(
  rules: LimitRules,
  active: readonly NamedRateRule[],
  context: ExecutionContext,
): Promise<void> {
  const { request, response } = httpRoute(context);
  const reply = context.switchToHttp().getResponse<Reply>();
  const ruleKeys: RuleKey[] = [];
  for (const rule of active) {
    const rateKey = await resolveKey(rules, rule, request);
    if (rateKey) ruleKeys.push({ rule, rateKey });
  }
  if (ruleKeys.length === 0) return;
  const reported = ruleKeys.map(({ rateKey }) => rateKey).filter(({ rate }) => !rules.isShadow(rate.name));
  try {
    const [only] = ruleKeys;
    if (ruleKeys.length === 1 && countsEvery(only!.rule)) {
      const { rate, key, limit } = only!.rateKey;
      await rules.enforcer.count(rate, key, limit);
    } else {
      const attempt = await reserve(rules, ruleKeys, request);
      // A request that ends before its handler starts (a later guard refuses, an interceptor responds) is judged by its
      // response.
      if (attempt) onceClosed(response, () => attempt.handled || void attempt.settle(outcomeOfClosed(response)));
    }
  } catch (error) {
    if (error instanceof RateExceeded) {
      if (rules.headers !== 'none') setRefusalHeaders(reply, reported, error);
      setExposedHeaders(reply, { 'Retry-After': retryAfterSeconds(error.retryAfterMs) });
      throw new RateExceededException(error);
    }
    throw error;
  }
  if (rules.headers === 'all' && reported.length > 0) await setQuotaHeaders(reply, reported, rules.limiter);
}

async function resolveKey(
  rules: LimitRules,
  rule: NamedRateRule,
  request: LimitedRequest,
): Promise<RateKey | undefined> {
  const key = await readKey(rule, request);
  if (key === undefined) return undefined;
  const limit = await rules.limitFor(rule, request);
  return { rate: rules.rate(rule), key, ...(limit === undefined ? {} : { limit }) };
}

/**
 * Keys often come from a body that a caller controls: anything but a text is refused, so that it can't count as another
 * key.
 */
async function readKey(rule: NamedRateRule, request: LimitedRequest): Promise<string | undefined> {
  let key: unknown;
  try {
    key = await rule.key(request);
  } catch (cause) {
    // The function tried to read a member of a missing or malformed body.
    if (cause instanceof TypeError) throw malformed(rule, cause);
    throw cause;
  }
  if (key !== undefined && typeof key !== 'string') throw malformed(rule);
  return key;
}

const malformed = ({ name }: NamedRateRule, cause?: unknown): BadRequestException =>
  new BadRequestException(`The request has no valid key for ${name}.`, { cause });

/** Rules that count every request count it now; the others wait for the outcome of the attempt. */
async function reserve(
  rules: LimitRules,
  keys: readonly RuleKey[],
  request: LimitedRequest,
): Promise<Attempt | undefined> {
  const groups = [
    ...Map.groupBy(keys, ({ rule }) => (countsEvery(rule) ? undefined : (rule.isFailure ?? isForbidden))),
  ];
  const reservations = await rules.enforcer.reserveGroups(
    groups.map(([, group]) => group.map(({ rateKey }) => rateKey)),
  );
  const conditional: ConditionalReservation[] = [];
  for (const [index, [isFailure]] of groups.entries()) {
    const reservation = reservations[index]!;
    if (isFailure) conditional.push({ reservation, isFailure });
    else await reservation.commit();
  }
  return conditional.length > 0 ? Attempt.begin(request, conditional) : undefined;
}
