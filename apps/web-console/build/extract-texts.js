import { getCatalogs } from '@lingui/cli/api';
import { getConfig } from '@lingui/conf';
import { fileURLToPath } from 'node:url';
import { problemsOf } from './text-problems.js';

const config = getConfig({ configPath: fileURLToPath(new URL('../lingui.config.js', import.meta.url)) });
const [catalog] = await getCatalogs(config);

/** @returns {Promise<Record<string, { message: string }>>} the texts of the code by their IDs */
export async function extract() {
  const texts = await catalog.collect();
  if (!texts || Object.keys(texts).length === 0) throw new Error('The texts of the console could not be extracted.');
  return texts;
}

/** Writes the catalogs: new texts without a translation, and without the entries of texts that the code lacks. */
export const writeCatalogs = () =>
  catalog.make({ clean: true, overwrite: false, orderBy: config.orderBy }).then((written) => {
    if (!written) throw new Error('The catalogs could not be written.');
  });

/**
 * Compares the catalogs with the texts of the code.
 * @param {Record<string, { message?: string }>} texts by their IDs
 * @returns {Promise<string[]>} one sentence for each problem
 */
export async function findProblems(texts) {
  const catalogs = await catalog.readAll();
  return config.locales.flatMap((locale) =>
    problemsOf(locale, texts, catalogs[locale] ?? {}, locale === config.sourceLocale),
  );
}
