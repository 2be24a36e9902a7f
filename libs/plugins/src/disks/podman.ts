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

export interface FollowedContainer {
  readonly signal: AbortSignal;
  readonly position?: string;
  readonly onLine: (line: string, position: string) => void;
}

type OnLine = (line: string) => void;

/** A line of `podman logs --timestamps`. */
const TIMESTAMPED = /^(\d{4}-\d\d-\d\dT\S+) (.*)$/;

/** Both are times of RFC 3339; a time that never came is in the year 1. */
const isAfter = (end: string, start: string): boolean => Date.parse(end) >= Date.parse(start) && Date.parse(end) > 0;

/** The label of all containers that are run for plugins. */
const LABEL = 'dev.headgate.plugin-build';

/** What a container gets for each permission of its plugin. */
const PERMISSION_ARGS: Readonly<Record<PluginPermission, readonly string[]>> = {
  'privileged-container': ['--privileged', '--security-opt', 'label=type:unconfined_t'],
  'host-processes': ['--pid=host'],
  'host-devices': ['--volume', '/dev:/dev'],
  'image-store': ['--volume', '/var/lib/containers:/var/lib/containers'],
  network: ['--network=bridge'],
};

/** The state of a container that has been created. */
export type ContainerState =
  | { readonly status: 'absent' | 'running' }
  | { readonly status: 'ended'; readonly exitCode: number }
  /** It never ran to its end, for example because the machine was restarted. */
  | { readonly status: 'interrupted' };

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

  /** Starts a container that runs without this process. @throws DomainError BACKEND_FAILED */
  async start(
    { name, image, command, permissions, folder }: ContainerRun,
    signal: AbortSignal,
    onLine: OnLine,
  ): Promise<void> {
    const args = [
      ...['run', '--detach', '--pull=never', '--log-driver=k8s-file', '--name', name, '--label', LABEL],
      ...(permissions.includes('network') ? [] : ['--network=none']),
      ...permissions.flatMap((permission) => PERMISSION_ARGS[permission]),
      ...['--volume', `${folder}:${dirname(DISK_FILE)}`, '--', image, ...command],
    ];
    const result = await this.run(args, signal);
    if (result.status === 0) return;
    onLine(result.lastLines);
    throw failed('The build', result);
  }

  async state(name: string, signal: AbortSignal): Promise<ContainerState> {
    const result = await this.run(['container', 'inspect', '--format', '{{json .State}}', '--', name], signal);
    if (result.status !== 0) {
      if (/no such container/i.test(result.lastLines)) return { status: 'absent' };
      throw failed('podman container inspect', result);
    }
    const state = JSON.parse(result.output) as {
      readonly Status: string;
      readonly ExitCode: number;
      readonly StartedAt: string;
      readonly FinishedAt: string;
    };
    if (['running', 'stopping', 'paused'].includes(state.Status)) return { status: 'running' };
    // After a restart of the machine, podman reports an exit code of 0 without an end.
    const hasEnded = ['exited', 'stopped'].includes(state.Status) && isAfter(state.FinishedAt, state.StartedAt);
    return hasEnded ? { status: 'ended', exitCode: state.ExitCode } : { status: 'interrupted' };
  }

  /**
   * Passes on the output of a container until it ends.
   * @param position the last one that `onLine` was given; absent: all lines
   * @returns the exit code
   */
  async follow(
    name: string,
    { signal, position = '', onLine }: FollowedContainer,
  ): Promise<{ readonly exitCode: number; readonly lastLine: string }> {
    let lastLine = '';
    const since = position === '' ? [] : ['--since', position];
    const log = await this.run(['logs', '--follow', '--timestamps', ...since, '--', name], signal, (line) => {
      const [, time = '', text = ''] = TIMESTAMPED.exec(line) ?? ['', '', line];
      lastLine = text;
      // The last line of an earlier attempt comes again.
      if (time !== '' && time <= position) return;
      onLine(text, time);
    });
    if (log.status !== 0) throw failed('podman logs', log);
    const ended = await this.run(['wait', '--', name], signal);
    if (ended.status !== 0) throw failed('podman wait', ended);
    return { exitCode: Number(ended.output.trim()), lastLine };
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
