import { DomainError } from '@headgate/domain-contracts';
import { DISK_FILE, type PluginPermission } from '@headgate/plugin-sdk';
import { dirname } from 'node:path';
import { runProgram, type ProgramResult } from './run-program.js';

export interface ContainerRun {
  /** The name of the container. */
  readonly name: string;
  readonly image: string;
  readonly command: readonly string[];
  readonly permissions: readonly PluginPermission[];
  /** The folder of the build, which the container gets as `/headgate`. */
  readonly folder: string;
}

type OnLine = (line: string) => void;

/** The label of all containers that are run for plugins. */
const LABEL = 'dev.headgate.plugin-build';

/** What a container gets for each permission of its plugin. */
const PERMISSION_ARGS: Readonly<Record<PluginPermission, readonly string[]>> = {
  'privileged-container': ['--privileged', '--security-opt', 'label=type:unconfined_t'],
  'host-processes': ['--pid=host'],
  'host-devices': ['--volume', '/dev:/dev'],
  'image-store': ['--volume', '/var/lib/containers:/var/lib/containers'],
};

/** podman on this machine. Every argument is passed as it is: there is no shell. */
export class Podman {
  /** @param program a name to look up in PATH, or a path */
  constructor(private readonly program = 'podman') {}

  /** The version; undefined if podman is not installed or does not work. */
  async version(signal: AbortSignal): Promise<string | undefined> {
    const run = { program: this.program, args: ['--version'], signal };
    const { status, output } = await runProgram(run).catch(() => ({ status: -1, output: '' }));
    return status === 0 ? output.trim() : undefined;
  }

  /** @throws DomainError INVALID_SOURCE when the image can't be pulled */
  async pull(image: string, signal: AbortSignal, onLine: OnLine): Promise<void> {
    const result = await this.run(['pull', '--', image], signal, onLine);
    if (result.status !== 0)
      throw new DomainError('INVALID_SOURCE', `The image ${image} can't be pulled: ${result.lastLines}`);
  }

  async labels(image: string, signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
    const format = '{{json .Config.Labels}}';
    const result = await this.run(['image', 'inspect', '--format', format, '--', image], signal);
    if (result.status !== 0) throw failed('podman image inspect', result);
    try {
      return (JSON.parse(result.output) as Record<string, string> | null) ?? {};
    } catch (error) {
      throw new DomainError('BACKEND_FAILED', 'podman image inspect printed no JSON.', { cause: error });
    }
  }

  /** Runs a container, and removes it when it has ended. @throws DomainError BACKEND_FAILED */
  async runContainer(
    { name, image, command, permissions, folder }: ContainerRun,
    signal: AbortSignal,
    onLine: OnLine,
  ): Promise<void> {
    const args = [
      ...['run', '--rm', '--pull=never', '--network=none', '--name', name, '--label', LABEL],
      ...permissions.flatMap((permission) => PERMISSION_ARGS[permission]),
      ...['--volume', `${folder}:${dirname(DISK_FILE)}`, '--', image, ...command],
    ];
    // A program in the container may ignore the signal that ends podman.
    const removal = (): void => void this.remove(name).catch(() => undefined);
    signal.addEventListener('abort', removal, { once: true });
    try {
      const result = await this.run(args, signal, onLine);
      if (result.status !== 0) throw failed('The build', result);
    } finally {
      signal.removeEventListener('abort', removal);
    }
  }

  /** Ends and removes a container, if it exists. */
  async remove(name: string): Promise<void> {
    await this.run(['rm', '--force', '--ignore', '--time', '0', '--', name], new AbortController().signal).catch(
      (error: unknown) => {
        if (!DomainError.is(error, 'NOT_SUPPORTED')) throw error;
      },
    );
  }

  private run(args: readonly string[], signal: AbortSignal, onLine?: OnLine): Promise<ProgramResult> {
    return runProgram({ program: this.program, args, signal, onLine });
  }
}

const failed = (what: string, { status, lastLines }: ProgramResult): DomainError =>
  new DomainError('BACKEND_FAILED', `${what} failed with status ${status}: ${lastLines}`);
