import { compileMessageOrThrow } from '@lingui/message-utils/compileMessage';

/**
 * @param {string} locale
 * @param {Record<string, { message?: string }>} texts of the code
 * @param {Record<string, { message?: string, translation?: string }>} entries of the catalog
 * @param {boolean} isSource whether the texts of the code are in this language
 */
export function problemsOf(locale, texts, entries, isSource) {
  const file = `texts/${locale}.po`;
  const missing = Object.keys(texts).filter((id) => !entries[id]);
  const unused = Object.keys(entries).filter((id) => !texts[id]);
  return [
    ...missing.map((id) => `${file} lacks the text "${texts[id].message}". Run npm run texts.`),
    ...unused.map((id) => `${file} has the text "${entries[id].message}", which no code uses. Run npm run texts.`),
    ...(isSource ? [] : Object.values(entries).flatMap((entry) => translationProblem(file, entry))),
  ];
}

function translationProblem(file, { message = '', translation = '' }) {
  if (translation === '') return [`${file} has no translation of "${message}".`];
  const [before, after] = [placeholders(message), placeholders(translation)];
  if (after === undefined) return [`${file}: the translation "${translation}" is no valid message.`];
  if (before === after) return [];
  return [`${file}: "${translation}" has the placeholders ${after || 'none'}; its text has ${before || 'none'}.`];
}

/** The placeholders and elements of a message, each once, such as `<0>, count, name`; undefined if it has an error. */
function placeholders(message) {
  const found = new Set();
  const collect = (tokens) => {
    for (const token of tokens) {
      if (typeof token === 'string') {
        for (const [tag] of token.matchAll(/<\/?\d+\/?>/g)) found.add(tag);
        continue;
      }
      const [name, , choices] = token;
      found.add(name);
      if (choices && typeof choices === 'object') Object.values(choices).filter(Array.isArray).forEach(collect);
    }
  };
  try {
    collect(compileMessageOrThrow(message));
  } catch {
    return undefined;
  }
  return [...found].sort().join(', ');
}
