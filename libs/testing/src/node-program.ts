import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
// Jest's options for its own process.
const env = { ...process.env, NODE_OPTIONS: '' };
const DEFAULT_TIMEOUT_MS = 180_000;

/** A bundle of a TypeScript file, which tests run and kill as a process of plain Node. */
export class NodeProgram {
  private constructor(
    /** Where the bundle is; tests may keep files of their own there. Removed with the program. */
    readonly folder: string,
    private readonly script: string,
    private readonly timeoutMs: number,
  ) {}

  /** @param entry the path of the file. A process that runs for longer than the timeout has hung. */
  static async build(entry: string, { timeoutMs = DEFAULT_TIMEOUT_MS } = {}): Promise<NodeProgram> {
    const folder = await mkdtemp(join(tmpdir(), 'headgate-program-'));
    const vitePackage = createRequire(import.meta.url).resolve('vite/package.json');
    // The packages outside of the bundle are those of the workspace.
    await symlink(dirname(dirname(vitePackage)), join(folder, 'node_modules'));
    const vite = vitePackage.replace('package.json', 'bin/vite.js');
    // In a folder without the configuration of the application.
    await run(process.execPath, [vite, 'build', '--ssr', entry, '--outDir', folder], { cwd: dirname(entry), env });
    return new NodeProgram(folder, join(folder, basename(entry).replace(/\.ts$/, '.js')), timeoutMs);
  }

  /**
   * Runs it to its end.
   * @returns its output
   * @throws Error with its `code`, or with the `signal` that ended it. A process that has hung ends with SIGTERM, so
   *   that it differs from one that was killed with SIGKILL.
   */
  async run(...args: readonly string[]): Promise<string> {
    const limits = { env, timeout: this.timeoutMs, killSignal: 'SIGTERM' } as const;
    return (await run(process.execPath, [this.script, ...args], limits)).stdout;
  }

  async close(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
