import { isIP } from 'node:net';
import { normalizeAddress } from '@headgate/nest-kit';
import { isNetworkText, isWithin } from '../config/prefix-table.js';
import type { LapiDecision } from './lapi-decision.js';

/** Parameters by name, as a query has them. */
export type Query = Readonly<Record<string, unknown>>;
export type DecisionFilter = (decision: LapiDecision) => boolean;

/** A parameter of a bouncer that is wrong: 400. */
export class BadFilter extends Error {}

/** The filters of `/v1/decisions`, each with its test. */
const FILTERS: Readonly<Record<string, (given: string, query: Query) => DecisionFilter>> = {
  ip: (given) => {
    const address = normalizeAddress(given);
    if (isIP(address) === 0) throw new BadFilter(`ip: "${shown(given)}" is no address`);
    return ({ value }) => isWithin(address, value);
  },
  range: (given, { contains }) => {
    if (!isNetworkText(given)) throw new BadFilter(`range: "${shown(given)}" is no network such as 192.0.2.0/24`);
    // By default, the bans that contain the range; otherwise, those that are in it.
    return ({ value }) => (contains === 'false' ? isWithin(value, given) : isWithin(given, value));
  },
  contains: () => () => true,
  scope: (given) => (decision) => same(decision.scope, given),
  scopes: (given) => (decision) => listed(given).some((scope) => same(decision.scope, scope)),
  value: (given) => (decision) => decision.value === given,
  type: (given) => (decision) => same(decision.type, given),
  origins: (given) => (decision) => listed(given).includes(decision.origin),
  scenarios_containing: (given) => (decision) => listed(given).some((word) => has(decision.scenario, word)),
  scenarios_not_containing: (given) => (decision) => !listed(given).some((word) => has(decision.scenario, word)),
};

const MAX_SHOWN = 60;
const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();
const has = (text: string, word: string): boolean => text.toLowerCase().includes(word.toLowerCase());
const listed = (text: string): string[] => text.split(',').map((part) => part.trim());
const shown = (text: string): string => text.replace(/[^!-~]/g, '?').slice(0, MAX_SHOWN);

/**
 * The test of a decision that a bouncer asks for.
 * @throws BadFilter for a wrong value, and for an unknown filter unless `isLenient`: without it, more would be banned
 */
export function decisionFilter(query: Query, { isLenient }: { isLenient: boolean }): DecisionFilter {
  const tests = Object.entries(query).flatMap(([name, given]) => {
    const filter = Object.hasOwn(FILTERS, name) ? FILTERS[name] : undefined;
    if (filter === undefined) {
      if (isLenient) return [];
      throw new BadFilter(`'${shown(name)}' is no filter; use one of ${Object.keys(FILTERS).join(', ')}`);
    }
    if (typeof given !== 'string') throw new BadFilter(`${name} must be given once`);
    return given === '' ? [] : [filter(given, query)];
  });
  return (decision) => tests.every((test) => test(decision));
}
