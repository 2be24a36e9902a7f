import { toRequireTypes } from './require-types.mjs';

const isModule = (specifier: string): boolean => specifier.startsWith('esm-only');

test.each([
  ['a file next to it', `export * from './a/b.js';`, `export * from './a/b.cjs';`],
  ['types of a file', `import type { A } from '../a.js';`, `import type { A } from '../a.cjs';`],
  ['a type inside', `export declare const a: import('./a.js').A;`, `export declare const a: import('./a.cjs').A;`],
  ['a package', `import { A } from 'other/sub.js';`, `import { A } from 'other/sub.js';`],
  ['a side effect', `import 'esm-only';`, `import 'esm-only';`],
  [
    'a value of an ES module',
    `import { A } from 'esm-only';`,
    `import type { A } from 'esm-only' with { 'resolution-mode': 'import' };`,
  ],
  [
    'values and types of an ES module',
    `import { A, type B, type C as D } from 'esm-only';`,
    `import type { A, B, C as D } from 'esm-only' with { 'resolution-mode': 'import' };`,
  ],
  [
    'a type of an ES module',
    `import type { A } from 'esm-only/sub';`,
    `import type { A } from 'esm-only/sub' with { 'resolution-mode': 'import' };`,
  ],
  [
    'a type of an ES module inside',
    `export declare const a: import("esm-only").A;`,
    `export declare const a: import("esm-only", { with: { 'resolution-mode': 'import' } }).A;`,
  ],
  ['a text that looks like an import', `/** from './a.js' */ export {};`, `/** from './a.js' */ export {};`],
])('imports for require(): %s', (_case, declaration, expected) => {
  expect(toRequireTypes(declaration, isModule)).toBe(expected);
});

test('several imports keep their places', () => {
  const declaration = `import { A } from './a.js';\nimport { B } from 'esm-only';\nexport declare class C extends B<A> {}\n`;
  expect(toRequireTypes(declaration, isModule)).toBe(
    `import { A } from './a.cjs';\nimport type { B } from 'esm-only' with { 'resolution-mode': 'import' };\nexport declare class C extends B<A> {}\n`,
  );
});

test('refuses to export an ES module to require()', () => {
  expect(() => toRequireTypes(`export { A } from 'esm-only';`, isModule)).toThrow(
    "A library for require() can't export esm-only, an ES module.",
  );
});
