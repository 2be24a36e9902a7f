import { spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { foreignLockfile } from './foreign-lockfile.js';

export const WORKSPACE = join(import.meta.dirname, '../../..');
const SOURCES = join(WORKSPACE, 'apps/libraries-e2e/foreign');

/** A package of the workspace in the foreign project. */
export interface Installed {
  readonly name: string;
  /** What can be imported, such as `@headgate/clock/testing`. */
  readonly specifiers: readonly string[];
  readonly manifest: Readonly<Record<string, unknown>>;
}

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Without the colors that Nx demands. */
const { FORCE_COLOR: _color, ...inherited } = process.env;

/** Node of this process comes first on the path: programs that npm installs run on it too. */
const ENVIRONMENT = {
  ...inherited,
  NODE_OPTIONS: '',
  NO_COLOR: '1',
  PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`,
};

/** A project outside the workspace, with the packed libraries and what a team adds to them from the registry. */
export class ForeignProject {
  private readonly root = mkdtempSync(join(tmpdir(), 'foreign-'));
  readonly folder = join(this.root, 'project');

  /** Packs the libraries and installs them. @throws Error with the output of the step that failed */
  static async create(): Promise<ForeignProject> {
    const project = new ForeignProject();
    try {
      await project.install();
    } catch (error) {
      project.remove();
      throw error;
    }
    return project;
  }

  private async install(): Promise<void> {
    const tarballs = join(this.root, 'tarballs');
    await expectSuccess(this.run(process.execPath, [join(WORKSPACE, 'tools/pack/pack.mjs'), '--out', tarballs]));
    const manifest = JSON.parse(readFileSync(join(SOURCES, 'package.json'), 'utf8')) as { dependencies: object };
    const packed = readdirSync(tarballs)
      .filter((file) => file.endsWith('.tgz'))
      .map((file) => [nameOf(file), `file:../tarballs/${file}`]);
    const dependencies = { ...manifest.dependencies, ...Object.fromEntries(packed) };
    this.write('package.json', { ...manifest, dependencies });
    this.write('package-lock.json', foreignLockfile(WORKSPACE, { ...manifest, dependencies: manifest.dependencies }));
    const options = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    await expectSuccess(this.run('npm', ['install', ...options]));
  }

  /** The libraries that were installed from tarballs. */
  installed(): Installed[] {
    return readdirSync(join(this.folder, 'node_modules/@headgate')).flatMap((folder) => {
      const manifest = JSON.parse(this.read(`node_modules/@headgate/${folder}/package.json`)) as {
        name: string;
        exports?: object;
      };
      // A program exports nothing.
      if (!manifest.exports) return [];
      const paths = Object.keys(manifest.exports).filter((path) => path !== './package.json');
      return {
        name: manifest.name,
        specifiers: paths.map((path) => join(manifest.name, path)),
        manifest: { ...manifest },
      };
    });
  }

  /** Copies a file or folder into the project. */
  add(from: string, to: string): void {
    cpSync(join(WORKSPACE, from), join(this.folder, to), { recursive: true });
  }

  write(file: string, content: string | object): void {
    mkdirSync(dirname(join(this.folder, file)), { recursive: true });
    writeFileSync(join(this.folder, file), typeof content === 'string' ? content : JSON.stringify(content));
  }

  read(file: string): string {
    return readFileSync(join(this.folder, file), 'utf8');
  }

  /** Runs a program until it exits. @param cwd in the project */
  async run(program: string, args: readonly string[], { cwd = '.', env = {} } = {}): Promise<Outcome> {
    const child = this.spawn(program, args, { cwd, env });
    const output = { stdout: '', stderr: '' };
    for (const stream of ['stdout', 'stderr'] as const)
      child[stream]?.setEncoding('utf8').on('data', (text: string) => (output[stream] += text));
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, ...output };
  }

  spawn(program: string, args: readonly string[], { cwd = '.', env = {}, detached = false }: ProgramOptions = {}) {
    mkdirSync(join(this.folder, cwd), { recursive: true });
    const options: SpawnOptions = { cwd: join(this.folder, cwd), env: { ...ENVIRONMENT, ...env }, detached };
    return spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

export interface ProgramOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly detached?: boolean;
}

/** `headgate-kube-adapter-0.1.0.tgz` contains `@headgate/kube-adapter`. */
const nameOf = (tarball: string): string => tarball.replace(/^headgate-(.+)-\d+\.\d+\.\d+\.tgz$/, '@headgate/$1');

async function expectSuccess(running: Promise<Outcome>): Promise<void> {
  const { code, stdout, stderr } = await running;
  if (code !== 0) throw new Error(`${stdout}\n${stderr}`);
}
