/** @typedef {import('./libraries.mjs').Library} Library */

const SOURCE = /^\.\/src\/(.+)\.ts$/;

/**
 * The exports and programs of a library, with the files that they become.
 * @param {Library} library
 * @returns {{ exports: Record<string, string>, bin: Record<string, string> }} subpath or program → file below `src`,
 *   without `.ts`
 * @throws Error for an entry that is no TypeScript file below `src`
 */
export function entriesOf({ name, manifest }) {
  const inSource = (/** @type {[string, string]} */ [key, file]) => {
    const stem = SOURCE.exec(file)?.[1];
    if (!stem) throw new Error(`${name} exports ${file} as ${key}; only TypeScript files below src can be packed.`);
    return [key, stem];
  };
  const map = (/** @type {Record<string, string>} */ entries = {}) =>
    Object.fromEntries(Object.entries(entries).map(inSource));
  return { exports: map(manifest.exports), bin: map(manifest.publishConfig?.bin) };
}
