import type { RuleSet } from '@headgate/limit-rules';
import { ConfigError, ListenAddress, parseSection } from '@headgate/nest-kit';
import { parse, TomlError } from 'smol-toml';
import { blocksProblems, BlocksSection } from './blocks.section.js';
import { type DenyListSettings, parseDeny } from './deny.section.js';
import { DelayedEventsSection } from './delayed-events.section.js';
import { FederationSection } from './federation.section.js';
import { GatewaySection } from './gateway.section.js';
import { LimitsSection } from './limits.section.js';
import { LogSection } from './log.section.js';
import { OperatorSection } from './operator.section.js';
import { RatelimitSection } from './ratelimit.section.js';
import { rtcProblems, RtcSection } from './rtc.section.js';
import { parseRules } from './rules.section.js';
import { ServerSection, workerProblems } from './server.section.js';
import { sharedProblems, SharedSection } from './shared.section.js';

const sections = {
  server: ServerSection,
  ratelimit: RatelimitSection,
  limits: LimitsSection,
  delayed_events: DelayedEventsSection,
  gateway: GatewaySection,
  rtc: RtcSection,
  federation: FederationSection,
  operator: OperatorSection,
  shared: SharedSection,
  log: LogSection,
  blocks: BlocksSection,
};

type Sections = { readonly [Name in keyof typeof sections]: Readonly<InstanceType<(typeof sections)[Name]>> };

/** Every section, the rules that `[rates]`, `[[rules]]` and `[exemptions]` define, and the lists of `[[deny]]`. */
export type Config = Sections & { readonly rules: RuleSet; readonly deny: readonly Readonly<DenyListSettings>[] };

const LIST_SECTIONS = ['rates', 'rules', 'exemptions', 'deny'];

/**
 * Parses the whole configuration. Every setting has a default, so an empty text is valid.
 * @param source the name of the file, for error messages
 * @throws ConfigError that names every invalid setting, of all sections
 */
export function parseConfig(toml: string, source = 'configuration'): Config {
  const document = parseToml(toml, source);
  const problems = Object.keys(document)
    .filter((name) => !Object.hasOwn(sections, name) && !LIST_SECTIONS.includes(name))
    .map((name) => `[${name}] is not a known section`);
  const entries = Object.entries(sections).map(([name, section]) => [name, parseOrReport(section, name)]);
  const parsed = Object.fromEntries(entries) as Sections;
  const rules = parseRules(document, parsed.ratelimit ?? new RatelimitSection(), source, problems);
  const deny = parseDeny(document.deny, source, problems);
  problems.push(...ringProblems(document));
  if (problems.length > 0) throw new ConfigError(source, problems);
  const config: Config = Object.freeze({ ...parsed, rules, deny });
  const conflicts = crossSectionProblems(config);
  if (conflicts.length > 0) throw new ConfigError(source, conflicts);
  return config;

  /** One run reports the problems of every section. */
  function parseOrReport(section: new () => object, name: string): object | undefined {
    try {
      return parseSection(section, document[name], name, source);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(...error.problems);
      return undefined;
    }
  }
}

function parseToml(toml: string, source: string): Record<string, unknown> {
  try {
    return parse(toml);
  } catch (error) {
    throw new ConfigError(source, [`not valid TOML: ${reasonOf(error)}`]);
  }
}

/** The position and the problem. The other lines of the message quote the file, which contains secrets. */
function reasonOf(error: unknown): string {
  if (!(error instanceof TomlError)) return String(error);
  const [problem = ''] = error.message.replace('Invalid TOML document: ', '').split('\n', 1);
  return `line ${error.line}, column ${error.column}: ${problem}`;
}

/** One limit can't be set in two places. */
function ringProblems({ ratelimit, rates }: Record<string, unknown>): string[] {
  const ring = (rates as { ring?: { limit?: unknown } } | undefined)?.ring?.limit;
  const perMinute = (ratelimit as { rings_per_minute?: unknown } | undefined)?.rings_per_minute;
  const isTwice = ring !== undefined && perMinute !== undefined;
  return isTwice ? ['ratelimit.rings_per_minute and rates.ring.limit set the same limit'] : [];
}

function crossSectionProblems({ server, rtc, gateway, operator, shared, blocks }: Config): string[] {
  const isGateway = gateway.upstream !== undefined;
  const problems = [
    ...rtcProblems(rtc, isGateway),
    ...sharedProblems(shared),
    ...workerProblems(server, isGateway),
    ...blocksProblems(blocks, operator),
  ];
  if (gateway.ca_file !== undefined && !gateway.upstream?.startsWith('https:')) {
    problems.push('gateway.ca_file is for an https upstream');
  }
  if (
    operator.listen !== undefined &&
    operator.token === undefined &&
    Object.keys(operator.tokens).length === 0 &&
    !ListenAddress.parse(operator.listen).isLoopback
  ) {
    problems.push('operator.token is needed when operator.listen is not a loopback address');
  }
  if (operator.token !== undefined && Object.values(operator.tokens).includes(operator.token)) {
    problems.push('operator.token is also one of operator.tokens');
  }
  if (operator.token !== undefined && Object.hasOwn(operator.tokens, 'operator')) {
    problems.push('operator.tokens.operator is the name of operator.token');
  }
  return problems;
}
