import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { importProblems } from './check-imports.mjs';

describe('the imports of a packed library', () => {
  let folder: string;

  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'check-imports-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const problemsOf = (manifest: object, files: Record<string, string>): string[] => {
    const entry = { '.': { types: './dist/index.d.ts', default: './dist/index.js' } };
    const all = {
      'dist/index.d.ts': '',
      'dist/index.js': '',
      ...files,
      'package.json': JSON.stringify({ name: '@headgate/lab', exports: entry, ...manifest }),
    };
    for (const [file, text] of Object.entries(all)) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), text);
    }
    return importProblems(folder, (name) => name === 'ws');
  };

  test('may be files of the package, modules of Node and declared packages', () => {
    const files = {
      'dist/index.js': `import fs from 'node:fs'; import { a } from './a.js'; import { parse } from 'yaml/parse';`,
      'dist/a.js': `export const load = () => import('ws');`,
      'dist/a.d.ts': `export declare const socket: import("ws").WebSocket;`,
    };
    expect(problemsOf({ dependencies: { yaml: '1', ws: '1', '@types/ws': '1' } }, files)).toEqual([]);
  });

  test('must be declared, in JavaScript and in declarations', () => {
    const files = { 'dist/index.js': `import 'reflect-metadata';`, 'dist/index.d.ts': `import type { A } from 'ws';` };
    expect(problemsOf({}, files).sort()).toEqual([
      "dist/index.d.ts imports ws, but the dependencies don't include @types/ws.",
      "dist/index.js imports reflect-metadata, but the dependencies don't include reflect-metadata.",
    ]);
  });

  test('must exist', () => {
    expect(problemsOf({}, { 'dist/index.js': `export * from '../../clock/src/index.js';` })).toEqual([
      'dist/index.js imports ../../clock/src/index.js, which is not packed.',
    ]);
    expect(problemsOf({ bin: { lab: './dist/main.js' } }, {})).toEqual(['./dist/main.js is exported, but not packed.']);
  });

  test('need every declared dependency', () => {
    const manifest = { dependencies: { yaml: '1' }, peerDependencies: { 'reflect-metadata': '1' } };
    expect(problemsOf(manifest, {})).toEqual(['The dependency yaml is not imported by any packed file.']);
  });
});
