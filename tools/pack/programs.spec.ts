import { join } from 'node:path';
import { programManifest, readPrograms } from './programs.mjs';

const root = join(import.meta.dirname, '../..');

describe('the packed programs', () => {
  test('are the applications for other teams, without the services', () => {
    expect(readPrograms(root).map(({ name }) => name)).toEqual(['@headgate/cli']);
  });

  test('have a built file for each command, and no dependencies', () => {
    const manifest = {
      name: '@headgate/tool',
      version: '0.1.0',
      description: 'A tool.',
      private: true,
      dependencies: { commander: '15.0.0' },
      publishConfig: { access: 'public', bin: { tool: './src/tool.ts' } },
      nx: {},
    };
    expect(programManifest({ name: '@headgate/tool', folder: 'tool', manifest }, 'Apache-2.0')).toEqual({
      name: '@headgate/tool',
      version: '0.1.0',
      description: 'A tool.',
      license: 'Apache-2.0',
      type: 'module',
      bin: { tool: './dist/tool.js' },
      files: ['dist'],
      engines: { node: '>=24' },
      publishConfig: { access: 'public' },
    });
  });
});
