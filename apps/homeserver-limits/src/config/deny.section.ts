import { ConfigError, parseSection } from '@headgate/nest-kit';
import { IsOptional, Matches } from 'class-validator';
import { Duration, FilledText, Flag, HttpOrigin, parseDuration } from './fields.js';

const MAX_LISTS = 20;
const MAX_INTERVAL_MS = 3_600_000;

/** A list of addresses that are refused: a file, or the bans of CrowdSec. */
export class DenyListSettings {
  @Matches(/^[a-z][a-z0-9_]{0,39}$/, {
    message: '$property must be 1 to 40 of a-z, 0-9 and _, beginning with a letter',
  })
  name = '';
  @IsOptional() @FilledText() file?: string;
  /** The origin of CrowdSec's local API, instead of a file. */
  @IsOptional() @HttpOrigin() crowdsec?: string;
  /** The file whose first line is the key of the bouncer. */
  @IsOptional() @FilledText() key_file?: string;
  /** How often the local API is asked for changes. */
  @Duration() interval = '10s';
  /** Reports the requests of these addresses, and refuses none. */
  @Flag() shadow = false;
}

/** The lists of `[[deny]]`. Problems are added to `problems`. */
export function parseDeny(raw: unknown, source: string, problems: string[]): DenyListSettings[] {
  if (raw === undefined) return [];
  if (!Array.isArray(raw)) {
    problems.push('deny must be an array of tables, [[deny]]');
    return [];
  }
  if (raw.length > MAX_LISTS) problems.push(`deny has more than ${MAX_LISTS} lists`);
  const lists = raw.flatMap((one: unknown, index) => {
    try {
      return [parseSection(DenyListSettings, one, `deny.${index}`, source)];
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(...error.problems);
      return [];
    }
  });
  for (const { name, file, crowdsec, key_file } of lists) {
    if ((file === undefined) === (crowdsec === undefined))
      problems.push(`deny.${name} must have either file or crowdsec`);
    if ((key_file === undefined) !== (crowdsec === undefined))
      problems.push(`deny.${name} must have key_file with crowdsec, and only with it`);
  }
  for (const { name, interval } of lists)
    if (parseDuration(interval) > MAX_INTERVAL_MS) problems.push(`deny.${name}.interval must be at most 1h`);
  const names = lists.map(({ name }) => name);
  for (const name of new Set(names.filter((one, index) => names.indexOf(one) !== index)))
    problems.push(`deny has two lists named ${name}`);
  return lists;
}
