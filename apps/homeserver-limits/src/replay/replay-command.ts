import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { ConfigError } from '@headgate/nest-kit';
import { parseConfig } from '../config/config.js';
import { eachLine } from './log-lines.js';
import { Replay, type ReplayReport } from './replay.js';
import { toJson, topKeys } from './report.js';

export const REPLAY_HELP = `Usage: homeserver-limits replay --log FILE --rules FILE [--top COUNT] [--json]

Reports which of the recorded requests would be refused under other rules.

  --log FILE      the request log that a gateway has written (log.requests_file)
  --rules FILE    the proposed configuration, TOML; only its rates, rules and exemptions are used
  --top COUNT     how many keys of each rule are listed, 10 by default
  --json          prints the report as JSON
`;

const OPTIONS = {
  log: { type: 'string' },
  rules: { type: 'string' },
  top: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

/** @returns the text for the standard output @throws ConfigError that names the invalid argument or file */
export function replayCommand(args: readonly string[]): string {
  const { log, rules, top = '10', json = false, help = false } = read(args);
  if (help) return REPLAY_HELP;
  if (log === undefined || rules === undefined) {
    throw new ConfigError('command line', ['replay needs --log FILE and --rules FILE']);
  }
  if (!/^\d{1,6}$/.test(top)) throw new ConfigError('command line', ['--top must be a whole number']);
  const config = parseConfig(
    readable(rules, () => readFileSync(rules, 'utf8')),
    rules,
  );
  const replay = new Replay(config.ratelimit.enabled ? config.rules : { ...config.rules, rules: [] });
  readable(log, () => eachLine(log, (line) => void replay.play(line)));
  return json ? `${JSON.stringify(toJson(replay.report, Number(top)))}\n` : toText(replay.report, Number(top));
}

function read(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS }).values;
  } catch (error) {
    throw new ConfigError('command line', [error instanceof Error ? error.message : String(error)]);
  }
}

function readable<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new ConfigError(path, [`cannot be read: ${message}`]);
  }
}

function toText(report: ReplayReport, top: number): string {
  const { requests, refused, refusedThen, refusedNow, grantedNow, firstMs, lastMs, invalidLines } = report;
  const time = (ms: number) => new Date(ms).toISOString();
  const lines = [
    `${requests} requests${requests > 0 ? ` from ${time(firstMs)} to ${time(lastMs)}` : ''}`,
    `${refused} would be refused: ${refusedNow} that were granted, and ${refused - refusedNow} that were refused`,
    `${grantedNow} of the ${refusedThen} that were refused would be granted`,
  ];
  if (invalidLines > 0)
    lines.push(`${invalidLines} lines are not of a request log, the first is line ${report.firstInvalidLine}`);
  for (const [name, rule] of report.rules) {
    const { keys } = rule;
    if (keys.size === 0) continue;
    const refusals = rule.refused > 0 ? `${rule.refused} refused` : `${rule.wouldBeRefused} would be refused (shadow)`;
    lines.push('', `${name}: ${refusals}, ${keys.size} keys`);
    for (const [key, count] of topKeys(keys, top)) lines.push(`  ${count}  ${key}`);
  }
  return `${lines.join('\n')}\n`;
}
