import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describeCommandLine } from './command-line-product.js';
import { COMPILATIONS, compile } from './compilation.js';
import { ForeignProject, WORKSPACE, type Installed } from './foreign-project.js';
import { RESULTS } from './program-results.js';
import { describeSandbox } from './sandbox-product.js';

const SOURCES = 'apps/libraries-e2e/foreign';
/** All but the plugin, which speaks with the service that starts it. */
const PROGRAMS = Object.keys(RESULTS);

/** Whether a library is meant for other teams. The others are only installed because one of these needs them. */
const isProduct = ({ name }: Installed): boolean =>
  readFileSync(join(WORKSPACE, 'libs', basename(name), 'package.json'), 'utf8').includes('"publishConfig"');

describe('the packed libraries in a project of another team', () => {
  let project: ForeignProject;
  let installed: Installed[];

  beforeAll(async () => {
    project = await ForeignProject.create();
    installed = project.installed();
    for (const [folder, type] of [
      ['esm', 'module'],
      ['cjs', 'commonjs'],
    ] as const) {
      project.write(join(folder, 'package.json'), { private: true, type });
      for (const part of ['programs', 'backend']) project.add(join(SOURCES, part), join(folder, part));
      const specifiers = installed.flatMap((library) => library.specifiers);
      project.write(
        join(folder, 'everything.ts'),
        specifiers.map((specifier, index) => `export * as library${index} from '${specifier}';`).join('\n'),
      );
    }
  });
  afterAll(() => project?.remove());

  test('are used by the programs of the project, with every subpath of a product', () => {
    const text = ['programs', 'backend']
      .flatMap((part) => readdirSync(join(WORKSPACE, SOURCES, part)).map((file) => join('esm', part, file)))
      .map((file) => project.read(file))
      .join('\n');
    const products = installed.filter(isProduct).flatMap(({ specifiers }) => specifiers);
    expect(products.filter((specifier) => !text.includes(`from '${specifier}'`))).toEqual([]);
    expect(products.length).toBeGreaterThanOrEqual(23);
  });

  test('describe themselves, and have nothing of the workspace in their manifests', () => {
    for (const { name, manifest } of installed) {
      expect(manifest).toMatchObject({ name, license: 'Apache-2.0', description: expect.stringMatching(/\.$/) });
      for (const own of ['private', 'nx', 'devDependencies']) expect(manifest).not.toHaveProperty(own);
      const { dependencies, peerDependencies } = manifest as Record<string, Record<string, string>>;
      for (const range of Object.values({ ...dependencies, ...peerDependencies })) expect(range).toMatch(/^\^\d/);
    }
  });

  test('have a program for each result, and the plugin', () => {
    const programs = readdirSync(join(WORKSPACE, SOURCES, 'programs')).map((file) => basename(file, '.ts'));
    expect(programs.sort()).toEqual([...PROGRAMS, 'plugin'].sort());
  });

  // The specs below run the output of the first two.
  test.each(COMPILATIONS)('compile as $title, declarations included', async (compilation) => {
    expect(await compile(project, compilation)).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  describe.each(['esm', 'cjs'])('run as %s', (folder) => {
    test.each(PROGRAMS)('%s', async (program) => {
      const { code, stdout, stderr } = await project.run(process.execPath, [`built/programs/${program}.js`], {
        cwd: folder,
      });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(JSON.parse(stdout)).toEqual(RESULTS[program]);
    });
  });

  test('prove a backend and a plugin under Jest', async () => {
    const config = { testEnvironment: 'node', transform: {}, testMatch: ['<rootDir>/built/**/*.spec.js'] };
    project.write('esm/jest.config.json', config);
    const { code, stderr } = await project.run(process.execPath, ['../node_modules/jest/bin/jest.js'], {
      cwd: 'esm',
      env: { NODE_OPTIONS: '--experimental-vm-modules --disable-warning=ExperimentalWarning' },
    });
    expect({ code, failures: code === 0 ? '' : stderr }).toEqual({ code: 0, failures: '' });
    expect(stderr).toMatch(/Tests: +\d{3} passed/);
  });

  describe('the sandbox', () => describeSandbox(() => project));

  describe('the command line', () => describeCommandLine(() => project));
});
