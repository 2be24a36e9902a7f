import { ConfigError, parseSection } from '@headgate/nest-kit';
import { Matches } from 'class-validator';
import { FilledText, Flag } from './fields.js';

const MAX_LISTS = 20;

/** A file of addresses that are refused. */
export class DenyListSettings {
  @Matches(/^[a-z][a-z0-9_]{0,39}$/, {
    message: '$property must be 1 to 40 of a-z, 0-9 and _, beginning with a letter',
  })
  name = '';
  @FilledText() file = '';
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
  const names = lists.map(({ name }) => name);
  for (const name of new Set(names.filter((one, index) => names.indexOf(one) !== index)))
    problems.push(`deny has two lists named ${name}`);
  return lists;
}
