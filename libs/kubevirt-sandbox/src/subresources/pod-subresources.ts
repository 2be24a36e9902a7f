import { StringDecoder } from 'node:string_decoder';
import type { WebSocket } from 'ws';
import { type ResponseStream, apiError, badRequest, notFound, type SubresourceRequest } from '@headgate/kube-sandbox';
import { GuestShell, type GuestPower } from '../guests/guest-shell.js';
import { TerminalSession } from '../guests/terminal-session.js';
import { RESOURCES } from '../resources.js';
import type { Container, Pod } from '../types/core-kinds.js';
import type { SimulationContext } from '../simulation-context.js';
import { ContainerFiles, containerFacts } from './container-shells.js';
import { isOfJob } from '../controllers/jobs/job-pod-controller.js';
import { containerLog, heartbeatAt, previousLog, untilHeartbeat, type LogLine } from '../pods/container-log.js';
import { readLogOptions, textOf, type LogOptions } from '../pods/log-options.js';
import { runFileProgram } from './file-programs.js';
import { portForwarding } from './port-forwarding.js';
import { EXEC_PROTOCOLS, ExecChannels, NO_INPUT, type TerminalSize } from './exec-channels.js';
import { kubeletError } from './kubelet-access.js';

/** A container can't power off its machine. */
const NO_POWER: GuestPower = { powerOff: () => undefined, reboot: () => undefined };
/** Images without any program but their own. */
const DISTROLESS = /(^|[/-])distroless([/:-]|$)/;
const MAX_FRAME_BYTES = 32_768;
const SHELLS = /(^|\/)(ba|a|da|z)?sh$/;

/** Logs of pods, and commands in them. */
export class PodSubresources {
  private readonly files: ContainerFiles;

  constructor(private readonly context: SimulationContext) {
    this.files = new ContainerFiles(context);
  }

  register(): void {
    const { subresources } = this.context;
    this.files.watch();
    subresources.handle({ group: '', resource: 'pods', subresource: 'log' }, ['GET'], (request) => this.log(request));
    subresources.connect(
      { group: '', resource: 'pods', subresource: 'portforward' },
      portForwarding((request) => void this.running(request)),
    );
    for (const subresource of ['exec', 'attach']) {
      subresources.connect(
        { group: '', resource: 'pods', subresource },
        {
          protocols: EXEC_PROTOCOLS,
          requireProtocol: true,
          check: (request) => void this.running(request),
          connect: (socket, request) => this.exec(socket, request),
        },
      );
    }
  }

  /** @throws ApiError 400, 404 */
  private target({ namespace, name, query }: SubresourceRequest): { pod: Pod; container: Container } {
    const pod = this.context.find<Pod>(RESOURCES.pod, namespace, name);
    if (!pod) throw notFound({ group: '', resource: 'pods', name });
    const wanted = query.get('container');
    const all = [...pod.spec.containers, ...(pod.spec.initContainers ?? []), ...(pod.spec.ephemeralContainers ?? [])];
    const container = wanted ? all.find((candidate) => candidate.name === wanted) : all[0];
    if (!container) throw badRequest(`container ${wanted} is not valid for pod ${name}`);
    return { pod, container };
  }

  private running(request: SubresourceRequest): { pod: Pod; container: Container } {
    const found = this.target(request);
    if (found.pod.status?.phase === 'Running') return found;
    const message = `container ${found.container.name} not found in pod ${request.name}_${request.namespace}`;
    throw found.pod.status?.phase === 'Pending'
      ? badRequest(`pod ${request.name} does not have a host assigned`)
      : badRequest(message);
  }

  private log(request: SubresourceRequest & { stream: ResponseStream }) {
    const { pod, container } = this.target(request);
    const waiting = pod.status?.containerStatuses?.find(({ name }) => name === container.name)?.state.waiting;
    if (!pod.status?.containerStatuses || waiting) {
      const why = waiting?.reason ?? 'ContainerCreating';
      throw badRequest(`container "${container.name}" in pod "${pod.metadata.name}" is waiting to start: ${why}`);
    }
    const error = kubeletError(this.context, { method: 'Get', action: 'containerLogs', pod, container });
    if (error !== undefined) throw apiError(500, undefined, error);
    const options = readLogOptions(request.query, this.context.clock.now());
    const text = textOf(this.linesOf(pod, container, options), options);
    if (!options.follows || options.isPrevious) return { code: 200, body: text };
    if (isOfJob(pod)) this.followProgram(pod, request.stream, text, options);
    else this.follow({ pod, container }, request.stream, text, options);
    return undefined;
  }

  private linesOf(pod: Pod, container: Container, { isPrevious }: LogOptions): readonly LogLine[] {
    if (isPrevious) {
      const lines = previousLog(pod, container);
      if (lines) return lines;
      throw badRequest(`previous terminated container "${container.name}" in pod "${pod.metadata.name}" not found`);
    }
    if (isOfJob(pod)) return this.context.output.of(pod.metadata.uid ?? '');
    return containerLog(pod, container, this.context.clock.now());
  }

  /** Follows the lines of a container that ends. */
  private followProgram(pod: Pod, stream: ResponseStream, text: string, options: LogOptions): void {
    stream.start(200, { 'Content-Type': 'text/plain' });
    if (text) stream.write(text);
    const { output, store } = this.context;
    const { namespace, name, uid = '' } = pod.metadata;
    const unfollow = output.follow(uid, (line) => stream.write(textOf([line], { stamped: options.stamped })));
    const unsubscribe = store.subscribe(RESOURCES.pod, ({ object, type }) => {
      if (object.metadata.uid !== uid) return;
      if (type === 'DELETED' || (object as Pod).status?.phase !== 'Running') finish();
    });
    const finish = (): void => {
      unfollow();
      unsubscribe();
      stream.end();
    };
    stream.signal.addEventListener('abort', finish, { once: true });
    if (this.context.find<Pod>(RESOURCES.pod, namespace, name)?.status?.phase !== 'Running') finish();
  }

  private follow(
    { pod, container }: { pod: Pod; container: Container },
    stream: ResponseStream,
    text: string,
    { stamped }: LogOptions,
  ): void {
    stream.start(200, { 'Content-Type': 'text/plain' });
    if (text) stream.write(text);
    const { clock, store } = this.context;
    let cancelBeat = (): void => undefined;
    const beatLater = (): void => {
      cancelBeat = clock.schedule(
        () => {
          stream.write(textOf([heartbeatAt(clock.now())], { stamped }));
          beatLater();
        },
        untilHeartbeat(pod, container, clock.now()),
      );
    };
    beatLater();
    const unsubscribe = store.subscribe(RESOURCES.pod, ({ object, type }) => {
      if (object.metadata.uid !== pod.metadata.uid) return;
      if (type === 'DELETED' || (object as Pod).status?.phase !== 'Running') finish();
    });
    const finish = (): void => {
      cancelBeat();
      unsubscribe();
      stream.end();
    };
    stream.signal.addEventListener('abort', finish, { once: true });
  }

  private exec(socket: WebSocket, request: SubresourceRequest): void {
    const { pod, container } = this.running(request);
    const { query } = request;
    const error = kubeletError(this.context, { method: 'Post', action: 'exec', pod, container, query });
    if (error !== undefined) return new ExecChannels(socket, NO_INPUT).fail(`error sending request: ${error}`);
    const command = query.getAll('command');
    if (DISTROLESS.test(container.image ?? '')) return this.refuseProgram(socket, command);
    const tty = query.get('tty') === 'true' || query.get('tty') === '1';
    const stdin = query.get('stdin') === 'true' || query.get('stdin') === '1';
    if (stdin && opensShell(command)) this.shell(socket, pod, container, tty);
    else this.runOnce(socket, pod, container, command);
  }

  private shell(socket: WebSocket, pod: Pod, container: Container, tty: boolean): void {
    const decoder = new StringDecoder('utf8');
    let size: TerminalSize = { width: 80, height: 24 };
    const channels: ExecChannels = new ExecChannels(socket, {
      stdin: (data) => session.type(decoder.write(data)),
      stdinClosed: () => channels.exit(0),
      resize: (asked) => {
        size = asked;
        files.set('/proc/self/winsize', `${size.height} ${size.width}\n`);
      },
    });
    const files = this.files.of(pod, container);
    const session = new TerminalSession({
      facts: containerFacts(pod, container),
      power: NO_POWER,
      now: () => this.context.clock.now(),
      print: (text) => channels.stdout(tty ? text.replace(/\r?\n/g, '\r\n') : text),
      device: 'pts/0',
      loggedInAs: 'root',
      files,
      onLeave: (exitCode) => channels.exit(exitCode),
    });
    if (tty) session.ask();
    this.exitWithPod(socket, channels, pod);
  }

  private exitWithPod(socket: WebSocket, channels: ExecChannels, pod: Pod): void {
    const unsubscribe = this.context.store.subscribe(RESOURCES.pod, ({ object, type }) => {
      if (object.metadata.uid !== pod.metadata.uid) return;
      if (type === 'DELETED' || (object as Pod).status?.phase !== 'Running') channels.exit(137);
    });
    socket.on('close', unsubscribe);
  }

  /** As containerd and runc report it. */
  private refuseProgram(socket: WebSocket, [program = '']: string[]): void {
    new ExecChannels(socket, NO_INPUT).fail(
      `error executing command in container: failed to exec in container: failed to start exec: OCI runtime exec failed: exec failed: unable to start container process: exec: "${program}": executable file not found in $PATH: unknown`,
    );
  }

  private runOnce(socket: WebSocket, pod: Pod, container: Container, command: string[]): void {
    const channels = new ExecChannels(socket, NO_INPUT);
    const result = runFileProgram(withoutChroot(command), this.files.treeOf(pod, container));
    if (result === 'waits') return this.exitWithPod(socket, channels, pod);
    if (result) {
      for (let at = 0; at < result.output.length; at += MAX_FRAME_BYTES)
        channels.stdout(result.output.subarray(at, at + MAX_FRAME_BYTES));
      if (result.errors !== '') channels.stderr(result.errors);
      return channels.exit(result.exitCode);
    }
    const shell = new GuestShell(
      containerFacts(pod, container),
      'root',
      NO_POWER,
      () => this.context.clock.now(),
      this.files.of(pod, container),
    );
    const output = shell.run(scriptOf(command));
    if (shell.exitCode === 0) channels.stdout(output);
    else channels.stderr(output);
    channels.exit(shell.exitCode);
  }
}

/** `sh`, `chroot /x /bin/bash`: an interactive shell; `sh -c '…'` is not. */
const opensShell = (command: string[]): boolean =>
  command.length === 0 ||
  (!command.includes('-c') && SHELLS.test(command.at(-1)!.split(' ')[0]!)) ||
  /exec .*sh/.test(command.at(-1)!);

const withoutChroot = (command: string[]): string[] => (command[0] === 'chroot' ? command.slice(2) : command);

function scriptOf(command: string[]): string {
  const flag = command.indexOf('-c');
  return flag >= 0 ? (command[flag + 1] ?? '') : command.join(' ');
}
