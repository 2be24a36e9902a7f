import nx from '@nx/eslint-plugin';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';
import { consoleZones } from './tools/lint/console-zones.js';
import { layers, layersInSpecs } from './tools/lint/layers.js';

/** The layer rule of tools/lint/layers.js; docs/extend.md explains it. */
const boundaries = (depConstraints) => ({
  '@nx/enforce-module-boundaries': ['error', { enforceBuildableLibDependency: false, allow: [], depConstraints }],
});

export default tseslint.config(
  { ignores: ['**/dist/**', '**/node_modules/**', '.nx/**', '**/coverage/**', '**/test-results/**'] },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.recommended],
    plugins: { '@nx': nx },
    rules: {
      ...boundaries(layers),
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-console': 'error',
      eqeqeq: 'error',
      // Prettier wraps code, but no comments.
      'max-len': [
        'error',
        { code: 100_000, comments: 120, ignoreUrls: true, ignorePattern: 'eslint-disable|words-example' },
      ],
      // The default message shows the regular expression to the user.
      'no-restricted-syntax': [
        'error',
        {
          selector: "CallExpression[callee.name='Matches']:not(:has(Property[key.name='message']))",
          message: 'Describe the allowed values in words: { message: "$property must be …" }.',
        },
        {
          selector: 'ObjectExpression > SpreadElement > ObjectExpression',
          message: 'Write the properties into the object itself.',
        },
      ],
    },
  },
  { files: ['libs/api-routes/src/api-document.ts'], rules: { 'max-len': 'off' } },
  {
    files: ['**/*.spec.{ts,tsx}', '**/src/**/testing/**/*.ts', '**/*.contract.ts', '**/*.bench.ts'],
    rules: boundaries(layersInSpecs),
  },
  {
    // Programs of another team, which may use every published library.
    files: ['apps/libraries-e2e/foreign/**/*.ts'],
    rules: { '@nx/enforce-module-boundaries': 'off', 'no-console': 'off' },
  },
  ...consoleZones,
  { files: ['apps/{web-console,limits-desk}/**/*.tsx'], ...reactHooks.configs.flat['recommended-latest'] },
);
