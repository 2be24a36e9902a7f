import {
  CONTRACT_RULES,
  hasBytes,
  hasFailures,
  isSharedKey,
  type Rule,
  RULE_EVENTS,
  RULE_KEYS,
  type RuleEvent,
  type RuleKey,
  type RuleSet,
} from '@headgate/limit-rules';
import { ConfigError, parseSection } from '@headgate/nest-kit';
import { IsArray, IsOptional, Matches } from 'class-validator';
import { Costs, Duration, FilledText, Flag, Network, OneOf, parseDuration, UserId, WholeNumber } from './fields.js';
import { MAX_RATE, type RatelimitSection } from './ratelimit.section.js';

/** More bytes than any disk has. */
const MAX_BYTES = 10 ** 15;
const ALGORITHMS = ['fixed-window', 'gcra'] as const;
const COUNTS = ['every', 'failures', 'authenticated'] as const;
/** The bounds of `[server]` that may only report. */
const REQUEST_LIMITS: readonly string[] = ['concurrent_requests', 'concurrent_polls'];
/** Each rule takes up to four rates, of which a limiter has 255. */
const MAX_RULES = 40;

/** Longer blocks for those who keep exceeding a rule. */
class BlockFields {
  @WholeNumber(1_000_000) after = 10;
  @Duration() within = '1h';
  @Duration() for = '10m';
  @Duration() max = '1d';
  @Duration() forget = '7d';
}

/** The settings that rates of the contract and rules have in common. */
class TermFields {
  @IsOptional() @WholeNumber(MAX_BYTES) limit?: number;
  @IsOptional() @Duration() window?: string;
  @OneOf(ALGORITHMS) algorithm: (typeof ALGORITHMS)[number] = 'fixed-window';
  @IsOptional() @OneOf(RULE_KEYS) by?: RuleKey;
  @Flag() shadow = false;
  @IsOptional() block?: unknown;
  @IsArray() @UserId({ each: true }) exempt_users: string[] = [];
  @IsArray() @FilledText({ each: true }) exempt_appservices: string[] = [];
  @IsArray() @Network({ each: true }) exempt_networks: string[] = [];
}

class RuleFields extends TermFields {
  @Matches(/^[a-z][a-z0-9_]{0,39}$/, {
    message: '$property must be 1 to 40 of a-z, 0-9 and _, beginning with a letter',
  })
  name = '';
  @IsArray() @OneOf(RULE_EVENTS, { each: true }) on: RuleEvent[] = [];
  @IsOptional() @OneOf(COUNTS) counts?: (typeof COUNTS)[number];
  @OneOf(['requests', 'bytes']) unit: 'requests' | 'bytes' = 'requests';
  @IsOptional() @Costs(RULE_EVENTS) costs?: Partial<Record<RuleEvent, number>>;
}

export class ExemptionsSection {
  @IsArray() @UserId({ each: true }) users: string[] = [];
  @IsArray() @FilledText({ each: true }) appservices: string[] = [];
  @IsArray() @Network({ each: true }) networks: string[] = [];
}

/** What each event has to be counted by, besides the source and the whole server. */
const KEYS_OF: Readonly<Record<RuleEvent, readonly RuleKey[]>> = {
  login: ['account', 'account_source'],
  registration: [],
  ring: ['user', 'room'],
  openid_token: ['user'],
  sfu_credential: ['user'],
  message: ['user', 'room'],
  state: ['user', 'room'],
  join: ['user', 'room'],
  invite: ['user', 'room', 'target_server'],
  create_room: ['user'],
  upload: ['user'],
  federation: ['origin'],
  interactive_auth: ['account', 'account_source', 'user'],
  request_token: ['recipient'],
  guest_registration: [],
  register_available: [],
  download: ['user'],
  key_query: ['user'],
  key_claim: ['user'],
  user_directory: ['user'],
  rendezvous: [],
  auth_login: ['account', 'account_source'],
  auth_registration: [],
  auth_recovery: ['recipient'],
  auth_api: [],
  oauth_token: [],
  oauth_client: [],
  device_code: [],
  device_link: [],
};

/** The parts of the configuration that rules come from. */
export interface RuleDocument {
  readonly rates?: unknown;
  readonly rules?: unknown;
  readonly exemptions?: unknown;
}

/**
 * The contract's rates with the settings of `[rates.NAME]`, then the `[[rules]]`.
 * @param problems receives every invalid setting; the result is only meaningful if there is none
 */
export function parseRules(
  document: RuleDocument,
  ratelimit: Readonly<RatelimitSection>,
  source: string,
  problems: string[],
): RuleSet {
  const rules = [
    ...ratesOf(document.rates, ratelimit, source, problems),
    ...ownRules(document.rules, source, problems),
  ];
  const names = rules.map(({ name }) => name);
  for (const name of new Set(names.filter((one, index) => names.indexOf(one) !== index))) {
    problems.push(`rules has two rules named ${name}`);
  }
  for (const name of ratelimit.shadow.filter((one) => !names.includes(one) && !REQUEST_LIMITS.includes(one))) {
    problems.push(`each of ratelimit.shadow must be one of ${names.join(', ')}, not ${name}`);
  }
  if (rules.length > MAX_RULES) problems.push(`rules has more than ${MAX_RULES - CONTRACT_RULES.length} rules`);
  const exempt = parseOrReport(ExemptionsSection, document.exemptions, 'exemptions', source, problems);
  return {
    rules: rules.map((rule) => ({ ...rule, shadow: rule.shadow || ratelimit.shadow.includes(rule.name) })),
    exempt: exempt ?? new ExemptionsSection(),
  };
}

function ratesOf(raw: unknown, ratelimit: Readonly<RatelimitSection>, source: string, problems: string[]): Rule[] {
  const tables = raw ?? {};
  if (!isTable(tables)) {
    problems.push('rates must be a section');
    return [];
  }
  const known = CONTRACT_RULES.map(({ name }) => name);
  for (const name of Object.keys(tables).filter((one) => !known.includes(one))) {
    problems.push(`[rates.${name}] is not a known rate; the rates are ${known.join(', ')}`);
  }
  return CONTRACT_RULES.map((rule) => {
    const path = `rates.${rule.name}`;
    const base = rateOf(rule, ratelimit);
    const fields = parseOrReport(TermFields, tables[rule.name], path, source, problems);
    return fields ? checked({ ...base, ...termsOf(fields, base, path, source, problems) }, path, problems) : base;
  });
}

/** A rate of the contract with the settings that it has in `[ratelimit]`. */
function rateOf(rule: Rule, { rings_per_minute, login_success_clears_source }: Readonly<RatelimitSection>): Rule {
  if (rule.name === 'ring') return { ...rule, limit: rings_per_minute };
  if (rule.name === 'login_source') return { ...rule, successClears: login_success_clears_source };
  return rule;
}

function ownRules(raw: unknown, source: string, problems: string[]): Rule[] {
  if (raw === undefined) return [];
  if (!Array.isArray(raw)) {
    problems.push('rules must be an array of tables, [[rules]]');
    return [];
  }
  return raw.flatMap((one: unknown, index) => {
    const name = isTable(one) && typeof one.name === 'string' ? one.name : String(index);
    const path = `rules.${name}`;
    const fields = parseOrReport(RuleFields, one, path, source, problems);
    if (!fields) return [];
    for (const key of ['limit', 'window', 'by'] as const)
      if (fields[key] === undefined) problems.push(`${path}.${key} is missing`);
    if (fields.on.length === 0) problems.push(`${path}.on must name at least one of ${RULE_EVENTS.join(', ')}`);
    const base: Rule = {
      ...CONTRACT_RULES[0]!,
      name: fields.name,
      on: fields.on,
      counts: fields.counts ?? defaultCounts(fields.on),
      unit: fields.unit,
      costs: fields.costs ?? {},
    };
    return [checked({ ...base, ...termsOf(fields, base, path, source, problems) }, path, problems)];
  });
}

/** A key that a caller only claims must not be counted before it is verified, and logins count as in the contract. */
function defaultCounts(events: readonly RuleEvent[]): Rule['counts'] {
  if (events.includes('federation')) return 'authenticated';
  return events.some(hasFailures) ? 'failures' : 'every';
}

function termsOf(
  fields: Readonly<TermFields>,
  base: Rule,
  path: string,
  source: string,
  problems: string[],
): Pick<Rule, 'limit' | 'windowMs' | 'algorithm' | 'by' | 'shadow' | 'block' | 'exempt'> {
  const { algorithm, shadow, exempt_users: users, exempt_appservices: appservices, exempt_networks: networks } = fields;
  const block =
    fields.block === undefined
      ? undefined
      : parseOrReport(BlockFields, fields.block, `${path}.block`, source, problems);
  return {
    limit: fields.limit ?? base.limit,
    windowMs: fields.window === undefined ? base.windowMs : parseDuration(fields.window),
    algorithm,
    by: fields.by ?? base.by,
    shadow,
    exempt: { users, appservices, networks },
    block: block && {
      after: block.after,
      withinMs: parseDuration(block.within),
      forMs: parseDuration(block.for),
      maxMs: parseDuration(block.max),
      forgetMs: parseDuration(block.forget),
    },
  };
}

/** Reports the settings of a rule that don't fit together. */
function checked(rule: Rule, path: string, problems: string[]): Rule {
  const { on, by, unit, counts, costs, limit, windowMs, algorithm, block } = rule;
  for (const event of on) {
    if (by === 'source' || by === 'server' || KEYS_OF[event].includes(by)) continue;
    problems.push(`${path}.by must be one of ${['source', 'server', ...KEYS_OF[event]].join(', ')} for ${event}`);
  }
  if (unit === 'bytes' && !on.every(hasBytes)) problems.push(`${path}.unit = "bytes" is for upload and download only`);
  if (unit === 'requests' && limit > MAX_RATE) problems.push(`${path}.limit must be at most ${MAX_RATE}`);
  if (counts === 'failures' && !on.every(hasFailures))
    problems.push(`${path}.counts = "failures" is for login, interactive_auth and auth_login only`);
  if (counts !== 'every' && (unit === 'bytes' || Object.keys(costs).length > 0)) {
    problems.push(`${path}.counts must be "every" for a rule with costs or bytes`);
  }
  for (const event of Object.keys(costs)) {
    if (!on.includes(event as RuleEvent)) problems.push(`${path}.costs names ${event}, which is not in ${path}.on`);
  }
  if (algorithm === 'gcra' && Math.min(limit, MAX_RATE) > windowMs * 100) {
    problems.push(`${path}.window is too short for a gcra rule: at most 100 events per millisecond`);
  }
  if (block && isSharedKey(by)) {
    problems.push(`${path}.block is not for a rule by ${by}: a stranger could have all others blocked`);
  }
  if (block && block.forMs > block.maxMs) problems.push(`${path}.block.for must not be longer than ${path}.block.max`);
  return rule;
}

function parseOrReport<Section extends object>(
  section: new () => Section,
  raw: unknown,
  path: string,
  source: string,
  problems: string[],
): Readonly<Section> | undefined {
  try {
    return parseSection(section, raw, path, source);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems.push(...error.problems);
    return undefined;
  }
}

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
