import { formatter } from '@lingui/format-po';
import { compileMessage } from '@lingui/message-utils/compileMessage';
import { readFileSync } from 'node:fs';

/**
 * Reads a PO file.
 * @param {string} file
 * @param {string} locale
 * @returns {Promise<Record<string, { message?: string, translation?: string }>>} its entries by the IDs of the code
 */
export const readCatalog = async (file, locale) =>
  formatter().parse(readFileSync(file, 'utf8'), { locale, sourceLocale: 'en', filename: file });

/**
 * Reads a PO file as what the page needs.
 * @returns {Promise<Record<string, unknown>>} each text by its ID, as a string or as its parsed parts
 */
export async function compileCatalog(file, locale) {
  const entries = Object.entries(await readCatalog(file, locale)).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(
    entries.map(([id, { translation, message }]) => [id, compileMessage(translation || message)]),
  );
}
