import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { KubeApi } from '../api/kube-api.js';
import { WebSocket, WebSocketServer } from 'ws';

const STDOUT = 1;
const STDERR = 2;
const ERROR = 3;
const FRAME_BYTES = 4096;

/** A container whose programs are real ones of this machine, behind the protocol of `pods/exec`. */
export class LocalContainer {
  /** The programs that have not ended. */
  readonly running = new Set<ChildProcess>();
  /** Called before each program starts. */
  beforeProgram: (command: readonly string[]) => void = () => undefined;
  /** Ends each session with this Status, and starts no program. */
  refusal: object | undefined;
  private readonly listener = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols: () => PROTOCOL });

  /** @param folder the only place where programs are found */
  constructor(private readonly folder: string) {
    this.listener.on('connection', (socket, { url = '' }) => this.serve(socket, new URL(url, 'http://pod/')));
  }

  async open(): Promise<void> {
    if (this.listener.address() === null) await once(this.listener, 'listening');
  }

  get api(): Pick<KubeApi, 'list' | 'socket'> {
    const pod = { metadata: { name: 'box', namespace: 'tailvm' }, spec: {}, status: { phase: 'Running' } };
    return {
      list: (async () => [pod]) as unknown as KubeApi['list'],
      socket: async (_path, _protocols, query = '') => {
        const socket = new WebSocket(
          `ws://127.0.0.1:${(this.listener.address() as AddressInfo).port}/${query}`,
          PROTOCOL,
        );
        // Before the first message, which may arrive with the response.
        socket.once('open', () => socket.pause());
        await once(socket, 'open');
        return socket;
      },
    };
  }

  /** Cuts all connections, as a cluster that goes away. */
  cut(): void {
    for (const socket of this.listener.clients) socket.terminate();
  }

  async close(): Promise<void> {
    for (const program of this.running) {
      const ended = once(program, 'close');
      program.kill('SIGKILL');
      await ended;
    }
    this.cut();
    await new Promise((resolve) => this.listener.close(resolve));
  }

  private serve(socket: WebSocket, { searchParams }: URL): void {
    const command = searchParams.getAll('command');
    const send = (channel: number, data: Buffer | string): void => {
      if (socket.readyState === socket.OPEN)
        socket.send(Buffer.concat([Buffer.of(channel), Buffer.from(data as string)]));
    };
    const end = (status: object): void => {
      send(ERROR, JSON.stringify(status));
      socket.close(1000);
    };
    if (this.refusal) return end(this.refusal);
    this.beforeProgram(command);
    const [name = '', ...args] = command;
    const program = spawn(`${this.folder}/${name}`, args, {
      env: { PATH: this.folder },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.running.add(program);
    program.stdout?.on('data', (data: Buffer) => {
      // In small parts, so that records are split anywhere.
      for (let at = 0; at < data.length; at += FRAME_BYTES) send(STDOUT, data.subarray(at, at + FRAME_BYTES));
      if (socket.bufferedAmount > 0) this.pauseUntilSent(program, socket);
    });
    program.stderr?.on('data', (data: Buffer) => send(STDERR, data));
    socket.on('close', () => program.stdout?.destroy());
    program.on('error', () =>
      end({
        status: 'Failure',
        reason: 'InternalError',
        message: `exec: "${name}": executable file not found in $PATH`,
      }),
    );
    program.on('close', (code) => {
      this.running.delete(program);
      const causes = [{ reason: 'ExitCode', message: String(code ?? 137) }];
      end(code === 0 ? { status: 'Success' } : { status: 'Failure', reason: 'NonZeroExitCode', details: { causes } });
    });
  }

  private pauseUntilSent(program: ChildProcess, socket: WebSocket): void {
    program.stdout?.pause();
    socket.ping(undefined, undefined, () => program.stdout?.resume());
  }
}

const PROTOCOL = 'v5.channel.k8s.io';
