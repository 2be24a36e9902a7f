import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const workspace = join(import.meta.dirname, '../../../..');

/** The packages' peer dependencies. Linked, because the test must not depend on a network. */
const PEERS = ['@nestjs', 'reflect-metadata', 'rxjs', 'prom-client', 'fastify', '@types/node'];

export type CompilerOptions = Readonly<Record<string, unknown>>;

const BASE_OPTIONS: CompilerOptions = {
  strict: true,
  target: 'es2023',
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
  types: ['node'],
};

/** A project outside the workspace that contains the packed libraries and nothing else of the workspace. */
export class PackedProject {
  private readonly root = mkdtempSync(join(tmpdir(), 'limits-packed-'));
  readonly folder = join(this.root, 'project');

  /** @param registryPackages installed from the registry instead of being linked from the workspace */
  constructor(registryPackages: readonly string[] = []) {
    mkdirSync(this.folder);
    this.write('package.json', { name: 'consumer', private: true });
    const packages = process.env['HEADGATE_TEST_PACKAGES'];
    if (packages === undefined) throw new Error('The libraries are not packed: run Jest with jest.int.config.js.');
    const tarballs = readdirSync(packages)
      .filter((file) => file.endsWith('.tgz'))
      .map((file) => join(packages, file));
    const options = [
      ...(registryPackages.length > 0 ? ['--prefer-offline', '--fetch-retries=1'] : ['--offline']),
      '--no-audit',
      '--no-fund',
      '--ignore-scripts',
      '--legacy-peer-deps',
      '--loglevel=error',
    ];
    run('npm', ['install', ...options, ...tarballs, ...registryPackages], this.folder);
    mkdirSync(join(this.folder, 'node_modules/@types'), { recursive: true });
    for (const peer of PEERS.filter((name) => !existsSync(join(this.folder, 'node_modules', name)))) {
      symlinkSync(join(workspace, 'node_modules', peer), join(this.folder, 'node_modules', peer));
    }
  }

  write(file: string, content: string | object): void {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    writeFileSync(join(this.folder, file), text);
  }

  read(file: string): string {
    return readFileSync(join(this.folder, file), 'utf8');
  }

  /** The compiler's messages about a file; empty if there are none. The output is in `built`. */
  compile(file: string, options: CompilerOptions): string {
    const compilerOptions = { skipLibCheck: true, outDir: 'built', ...BASE_OPTIONS, ...options };
    this.write('tsconfig.json', { compilerOptions, files: [file] });
    const compiler = join(workspace, 'node_modules/typescript/bin/tsc');
    return spawnSync(process.execPath, [compiler, '-p', '.'], { cwd: this.folder, encoding: 'utf8' }).stdout;
  }

  run(file: string): string {
    return run(process.execPath, [file], this.folder);
  }

  /** The version of an installed package. */
  versionOf(name: string): string {
    return (JSON.parse(this.read(join('node_modules', name, 'package.json'))) as { version: string }).version;
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

const run = (program: string, args: string[], cwd: string): string =>
  execFileSync(program, args, { cwd, encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } });
