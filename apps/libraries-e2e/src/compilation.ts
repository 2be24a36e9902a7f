import { join } from 'node:path';
import { WORKSPACE, type ForeignProject, type Outcome } from './foreign-project.js';

/** How a team compiles its sources. */
export interface Compilation {
  readonly title: string;
  /** The folder of the sources in the project, whose package.json says how Node loads them. */
  readonly folder: 'esm' | 'cjs';
  /** TypeScript 6 or 7, which takes a quarter of the time. */
  readonly compiler: 'typescript' | 'typescript-native';
  readonly options: Readonly<Record<string, unknown>>;
  readonly exclude?: readonly string[];
}

/** The output is in `built`, in the folder of the sources. */
const EMITTED = { outDir: 'built', rootDir: '.' };

/** The files of `folder` run after the first compilation of it. */
export const COMPILATIONS: readonly Compilation[] = [
  { title: 'ES modules, node16', folder: 'esm', compiler: 'typescript', options: { module: 'node16', ...EMITTED } },
  {
    title: 'CommonJS, node20',
    folder: 'cjs',
    compiler: 'typescript-native',
    options: { module: 'node20', moduleResolution: 'node16', ...EMITTED },
  },
  {
    title: 'CommonJS, node16',
    folder: 'cjs',
    compiler: 'typescript-native',
    options: { module: 'node16', noEmit: true },
    // Here, TypeScript refuses Nest 12 itself, which has ES modules only.
    exclude: ['programs/nest-app.ts'],
  },
  {
    title: 'ES modules, bundler',
    folder: 'esm',
    compiler: 'typescript-native',
    options: { module: 'esnext', moduleResolution: 'bundler', noEmit: true },
  },
  {
    title: 'CommonJS, bundler',
    folder: 'cjs',
    compiler: 'typescript-native',
    options: { module: 'commonjs', moduleResolution: 'bundler', noEmit: true },
  },
];

/** Compiles all sources of the folder, and checks the declarations of all packages that they import. */
export async function compile(
  project: ForeignProject,
  { title, folder, compiler, options, exclude = [] }: Compilation,
): Promise<Outcome> {
  const config = `tsconfig.${title.replace(/\W+/g, '-')}.json`;
  project.write(join(folder, config), {
    compilerOptions: {
      target: 'es2023',
      strict: true,
      skipLibCheck: false,
      experimentalDecorators: true,
      emitDecoratorMetadata: true,
      types: ['node'],
      ...options,
    },
    exclude: ['built', ...exclude],
  });
  const program = join(WORKSPACE, 'node_modules', compiler, 'bin/tsc');
  return project.run(process.execPath, [program, '-p', config], { cwd: folder });
}
