import { readFileSync } from 'node:fs';
import { DomainError, messageOf, type CatalogEntry } from '@headgate/domain-contracts';
import { builtInCatalog, parseCatalog } from '@headgate/images';
import { ConfigError } from './service-config.js';

/**
 * The entries of a catalog file, or of the built-in one.
 * @throws ConfigError with every problem of the file
 */
export function readCatalog(file: string | undefined): readonly CatalogEntry[] {
  if (file === undefined) return builtInCatalog();
  let data: unknown;
  try {
    data = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new ConfigError(file, [`the catalog can't be read (${messageOf(error)})`]);
  }
  try {
    return parseCatalog(data, file);
  } catch (error) {
    if (!DomainError.is(error, 'INVALID_INPUT')) throw error;
    throw new ConfigError(file, (error.details as { problems: readonly string[] }).problems);
  }
}
