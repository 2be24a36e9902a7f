import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { fieldProblems } from '../validation/field-problems.js';
import { ConfigError } from './config-error.js';

const WORDS = { unknown: 'is not a known key', notNested: 'must be a section' };

/**
 * Parses one section of a configuration file into a frozen object of its class, with the class's defaults for absent
 * keys. Unknown keys are refused, so that a misspelled one is not ignored.
 * @param path name of the section; a problem names each key with it
 * @throws ConfigError with every key that is wrong
 */
export function parseSection<T extends object>(
  section: new () => T,
  raw: unknown,
  path: string,
  source: string,
): Readonly<T> {
  if (raw === undefined || raw === null) raw = {};
  if (typeof raw !== 'object' || Array.isArray(raw)) throw new ConfigError(source, [`${path} must be a section`]);
  const value = plainToInstance(section, raw);
  const errors = validateSync(value, { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: false });
  if (errors.length > 0) {
    const problems = fieldProblems(errors, WORDS, path).map(({ message }) => message);
    throw new ConfigError(source, problems);
  }
  return deepFreeze(value);
}

function deepFreeze<T extends object>(value: T): Readonly<T> {
  for (const inner of Object.values(value)) if (typeof inner === 'object' && inner !== null) deepFreeze(inner);
  return Object.freeze(value);
}
