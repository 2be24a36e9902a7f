import { plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';
import { ConfigError } from './config-error.js';

/**
 * Parses one section of a configuration file into a frozen object of its class, with the class's defaults for absent keys.
 * Unknown keys are refused, so that a misspelled one is not ignored.
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
  if (errors.length > 0) throw new ConfigError(source, problemsOf(errors, path));
  return deepFreeze(value);
}

function problemsOf(errors: readonly ValidationError[], path: string): string[] {
  return errors.flatMap((error) => {
    const key = path ? `${path}.${error.property}` : error.property;
    const own = Object.entries(error.constraints ?? {}).map(([rule, text]) =>
      rule === 'whitelistValidation'
        ? `${key} is not a known key`
        : text.replace(error.property, key).replace(/\.$/, ''),
    );
    return [...own, ...problemsOf(error.children ?? [], key)];
  });
}

function deepFreeze<T extends object>(value: T): Readonly<T> {
  for (const inner of Object.values(value)) if (typeof inner === 'object' && inner !== null) deepFreeze(inner);
  return Object.freeze(value);
}
