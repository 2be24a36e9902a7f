import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { CONSUMER, PRINTED } from './testing/consumer-program.js';
import { MIGRATED, runExample } from './testing/readme-examples.js';
import { type CompilerOptions, PackedProject } from './testing/packed-project.js';

const LIBRARIES = ['limits-core', 'limits-nest', 'limits-redis', 'matrix-protocol'];

describe('the packed libraries, installed in a project outside the workspace', () => {
  let project: PackedProject;

  beforeAll(() => {
    project = new PackedProject();
  });
  afterAll(() => project.remove());

  test.each(LIBRARIES)('%s contains built files, a README and the license, and nothing of the workspace', (name) => {
    const installed = join('node_modules/@headgate', name);
    const files = readdirSync(join(project.folder, installed), { recursive: true }).map(String).sort();
    expect(files.filter((file) => !file.startsWith('dist'))).toEqual(['LICENSE', 'README.md', 'package.json']);
    const built = files.filter((file) => /\.\w+$/.test(file) && file.startsWith('dist'));
    expect(built.filter((file) => !/\.(?:js|d\.c?ts)$/.test(file) || /spec|testing/.test(file))).toEqual([]);
    for (const file of built) expect(project.read(join(installed, file))).not.toContain('sourceMappingURL');
    const manifest = JSON.parse(project.read(join(installed, 'package.json'))) as Record<string, unknown>;
    expect(manifest).toMatchObject({ license: 'Apache-2.0', sideEffects: false, description: expect.any(String) });
    for (const own of ['private', 'nx', 'devDependencies']) expect(manifest).not.toHaveProperty(own);
    for (const ranges of [manifest['dependencies'], manifest['peerDependencies']]) {
      for (const range of Object.values(ranges ?? {})) expect(range).toMatch(/^\^\d/);
      expect(ranges ?? {}).not.toHaveProperty('prom-client');
    }
  });

  test('are installed once each, so that they share their error classes', () => {
    for (const name of LIBRARIES) {
      expect(existsSync(join(project.folder, 'node_modules/@headgate', name, 'node_modules'))).toBe(false);
    }
  });

  test.each<[string, 'module' | 'commonjs', CompilerOptions]>([
    ['ES modules', 'module', { module: 'nodenext' }],
    ['CommonJS', 'commonjs', { module: 'nodenext' }],
    [
      'CommonJS, with the legacy resolution',
      'commonjs',
      { module: 'commonjs', moduleResolution: 'node10', ignoreDeprecations: '6.0', esModuleInterop: true },
    ],
  ])('work from strict TypeScript as %s', (_how, type, options) => {
    project.write('package.json', { name: 'consumer', private: true, type });
    project.write('consumer.ts', CONSUMER);
    expect(project.compile('consumer.ts', options)).toBe('');
    expect(project.read('built/consumer.js').includes('require("@headgate/limits-nest")')).toBe(type === 'commonjs');
    expect(JSON.parse(project.run('built/consumer.js'))).toEqual(PRINTED);
  });

  test.each<[string, CompilerOptions]>([
    ['node16', { module: 'node16' }],
    ['a bundler', { module: 'esnext', moduleResolution: 'bundler' }],
  ])('are resolved with their types by %s', (_how, options) => {
    project.write('package.json', { name: 'consumer', private: true, type: 'module' });
    project.write('consumer.ts', CONSUMER);
    expect(project.compile('consumer.ts', { ...options, noEmit: true })).toBe('');
  });

  test('have declarations without errors', () => {
    project.write('package.json', { name: 'consumer', private: true, type: 'module' });
    project.write('all.ts', LIBRARIES.map((name) => `export * from '@headgate/${name}';`).join('\n'));
    const strictest = { exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, isolatedModules: true };
    const output = project.compile('all.ts', { module: 'nodenext', noEmit: true, skipLibCheck: false, ...strictest });
    // Errors in the framework's own declarations do not matter here.
    expect(output.split('\n').filter((line) => line.includes('@headgate') || line.startsWith('all.ts'))).toEqual([]);
  });

  test('run the example of the README', async () => {
    await runExample(project, 0, async (call) => {
      const login = (password: string) => call('POST', 'login', { user: 'nora', password });
      expect(await login('right')).toMatchObject({ status: 200, body: { access_token: 'token-of-nora' } });
      for (let attempt = 0; attempt < 5; attempt++) expect((await login('wrong')).status).toBe(403);
      expect(await login('right')).toMatchObject({ status: 429, body: { errcode: 'M_LIMIT_EXCEEDED' } });
      const rings = [];
      for (let attempt = 0; attempt < 4; attempt++) rings.push((await call('PUT', 'ring', {})).status);
      expect(rings).toEqual([200, 200, 200, 429]);
      const pushers = [];
      for (const pushkey of ['a', 'b', 'c']) pushers.push((await call('POST', 'pushers/set', { pushkey })).status);
      expect(pushers).toEqual([200, 200, 400]);
      expect((await call('POST', 'pushers/delete', { pushkey: 'a' })).status).toBe(200);
      expect((await call('POST', 'pushers/set', { pushkey: 'c' })).status).toBe(200);
      const { text } = await call('GET', '../../../metrics');
      expect(text).toContain('limits_decisions_total{rule="login.account",outcome="refused"} 1');
    });
  });

  test('run the migrated example of the README', async () => {
    await runExample(project, 1, async (call) => expect(await MIGRATED.try(call)).toEqual(MIGRATED.expected));
  });
});
