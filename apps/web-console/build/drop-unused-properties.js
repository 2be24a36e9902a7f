/**
 * PatternFly declares thousands of custom properties that nothing in this console reads. A property that no `var()` in
 * the style sheet, no word of the script and no word of the page names can't have an effect, so its declaration goes.
 */
export const dropUnusedProperties = {
  name: 'drop-unused-properties',
  enforce: 'post',
  generateBundle(_options, bundle) {
    const scripts = Object.values(bundle).map((file) => (file.type === 'chunk' ? file.code : ''));
    for (const file of Object.values(bundle)) {
      if (file.type === 'asset' && file.fileName.endsWith('.css')) {
        file.source = withoutUnusedProperties(String(file.source), scripts.join('\n'));
      }
    }
  },
};

const READS = /var\(\s*(--[\w-]+)/g;
const NAMES = /--[\w-]+/g;
/** A declaration of a minified style sheet; strings may hold semicolons and braces. */
const DECLARATION = /(?<=[{;])(--[\w-]+):((?:"[^"]*"|'[^']*'|[^;{}"'])*)(;|(?=}))/g;

/** Dropping one property may leave another one unread, so it goes on until nothing changes. */
export function withoutUnusedProperties(css, script) {
  const inScript = new Set(script.match(NAMES));
  for (let before = '', now = css; ;) {
    before = now;
    const read = new Set([...now.matchAll(READS)].map(([, name]) => name));
    now = now.replace(DECLARATION, (text, name) => (read.has(name) || inScript.has(name) ? text : ''));
    if (now === before) return now;
  }
}
