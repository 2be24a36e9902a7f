import { fileURLToPath } from 'node:url';
import { compileCatalog } from './catalog.js';
import { replaceMacros } from './texts.js';

const catalogOf = (language) => fileURLToPath(new URL(`../texts/${language}.po`, import.meta.url));

/** Replaces the macros of the texts by the IDs of their entries. */
export const texts = {
  name: 'texts',
  enforce: 'pre',
  transform(code, id) {
    return /\/src\/.*\.tsx?$/.test(id) ? replaceMacros(code, id, 'id-only') : undefined;
  },
};

const fileOf = async (language) => JSON.stringify(await compileCatalog(catalogOf(language), language));

/** English is a part of app.js. Each other language is a file of its own, which the page loads when it needs it. */
export const catalogs = {
  name: 'catalogs',
  async load(id) {
    if (!id.endsWith('en.po')) return undefined;
    return { code: `export const messages = JSON.parse(${JSON.stringify(await fileOf('en'))});`, moduleType: 'js' };
  },
  async generateBundle() {
    this.emitFile({ type: 'asset', fileName: 'de.json', source: await fileOf('de') });
  },
};
