/** The build fails when the style sheet breaks one of these rules. */
export const styleRules = {
  name: 'style-rules',
  enforce: 'post',
  generateBundle(_options, bundle) {
    const files = Object.values(bundle);
    const script = files.map((file) => (file.type === 'chunk' ? file.code : '')).join('\n');
    for (const file of files) {
      if (file.type !== 'asset' || !file.fileName.endsWith('.css')) continue;
      const [problem] = styleProblems(String(file.source), script);
      if (problem) this.error(`${file.fileName}: ${problem}`);
    }
  },
};

/**
 * One rule such as `.group > * + *` anywhere makes the browser recompute the styles of all siblings whenever an element
 * is added or removed: in a list that scrolls, every row in each frame. `:not(:first-child)` says the same without that
 * cost. Rows are `div` elements, so `div + div` costs the same.
 */
const ANY_SIBLING = /[^{},]*(?:\*|(?<![\w.#-])div)\s*[+~]\s*(?:\*|div\b)[^{]*/g;

/** The page loads nothing but its own files. A font is allowed as a part of the style sheet. */
const EXTERNAL = /@import\b|\blocal\([^)]*\)|url\((?!["']?(?:data:|#))[^)]*\)/g;

const DECLARED = /(?<=[{;\s])(--[\w-]+)\s*:/g;
const READ = /var\(\s*(--[\w-]+)\s*([,)])/g;
const NAMED_IN_SCRIPT = /--[\w-]+/g;
const CLASS = /\.(hg-[\w-]+)/g;

/** Whether a script has the name of a class, or begins it with a text that a value follows. */
function isUsed(name, script) {
  if (new RegExp(`(?<![\\w-])${name}(?![\\w-])`).test(script)) return true;
  return [...name.matchAll(/-/g)].some(({ index }) => script.includes(`${name.slice(0, index + 1)}\${`));
}

/**
 * @param {string} css minified
 * @param {string} script the whole script, which may declare and read custom properties too
 * @returns {string[]} the broken rules
 */
export function styleProblems(css, script) {
  const scripted = new Set(script.match(NAMED_IN_SCRIPT));
  const declared = new Set([...css.matchAll(DECLARED)].map(([, name]) => name));
  const reads = [...css.matchAll(READ)];
  const read = new Set(reads.map(([, name]) => name));
  const missing = new Set(
    reads.filter(([, name, end]) => end === ')' && !declared.has(name) && !scripted.has(name)).map(([, name]) => name),
  );
  return [
    ...[...css.matchAll(ANY_SIBLING)].map(([rule]) => `a rule selects any element after any element: ${rule}`),
    ...[...css.matchAll(EXTERNAL)].map(([text]) => `it loads another file: ${text}`),
    ...[...new Set([...css.matchAll(CLASS)].map(([, name]) => name))]
      .filter((name) => !isUsed(name, script))
      .map((name) => `no element has the class ${name}.`),
    ...[...missing].map((name) => `${name} is read but never declared.`),
    ...[...declared].filter((name) => !read.has(name) && !scripted.has(name)).map((name) => `${name} is never read.`),
  ];
}
