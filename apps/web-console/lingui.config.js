import { formatter } from '@lingui/format-po';

/** English is the text in the code. */
export default {
  sourceLocale: 'en',
  locales: ['en', 'de'],
  rootDir: import.meta.dirname,
  catalogs: [
    { path: '<rootDir>/texts/{locale}', include: ['<rootDir>/src'], exclude: ['**/*.spec.*', '**/src/testing/**'] },
  ],
  // No line numbers, so that a text that moves within its file changes nothing here.
  format: formatter({ lineNumbers: false, printPlaceholdersInComments: true }),
  orderBy: 'origin',
};
