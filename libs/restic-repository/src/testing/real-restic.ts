import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
const MISSING = 'the program restic is not installed (apt-get install restic)';

const installed = spawnSync('restic', ['version'], { encoding: 'utf8' });
const isInstalled = installed.status === 0;

export interface ResticResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The real program on a repository in a folder. Its password is in the environment, as an operator would have it. */
export class RealRestic {
  constructor(
    private readonly folder: string,
    private readonly password: string,
  ) {}

  /** @throws if restic fails */
  async run(...args: string[]): Promise<string> {
    const { stdout } = await run('restic', this.arguments(args), this.options());
    return stdout;
  }

  /** The result, also of a failure. */
  async attempt(...args: string[]): Promise<ResticResult> {
    try {
      return { code: 0, ...(await run('restic', this.arguments(args), this.options())) };
    } catch (error) {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
      return { code, stdout, stderr };
    }
  }

  async json<T>(...args: string[]): Promise<T> {
    return JSON.parse(await this.run(...args, '--json')) as T;
  }

  private arguments(args: readonly string[]): string[] {
    return ['--repo', this.folder, '--no-cache', ...args];
  }

  private options() {
    const env = { PATH: process.env['PATH'], HOME: '/nonexistent', TZ: 'UTC', RESTIC_PASSWORD: this.password };
    return { env, maxBuffer: 64 << 20, encoding: 'utf8' as const };
  }
}

/** `describe` if restic is installed; otherwise skipped, with the reason in the title. */
export function describeOnRestic(title: string, suite: () => void): void {
  if (isInstalled) describe(title, suite);
  else describe.skip(`${title}: ${MISSING}`, suite);
}

/** The same for a single test. */
export function testOnRestic(title: string, run: () => Promise<void>): void {
  if (isInstalled) test(title, run);
  else test.skip(`${title}: ${MISSING}`, run);
}
