import { spawn, type ChildProcess } from 'node:child_process';
import { DomainError, type Clock } from '@headgate/domain-contracts';
import { englishEnvironment } from '../programs/run-program.js';
import { translateFailure } from '../programs/translate-failure.js';
import { NbdConnection } from './nbd-connection.js';
import { NbdDisk } from './nbd-disk.js';
import { NbdReader } from './nbd-reader.js';
import { NbdWriter } from './nbd-writer.js';

export interface ExportedDisk {
  readonly path: string;
  /**
   * Never probed: a guest writes the content of its raw disk, which could look like an image that names other files.
   */
  readonly format: string;
}

export interface NbdServerOptions {
  /** Default: read. */
  readonly access?: 'read' | 'write';
  /** The parts that `openDisk` finds: those that this file has itself, or those that a bitmap of it marks. */
  readonly marks?: 'allocated' | { readonly bitmap: string };
}

const EXPORT_NAME = 'disk';
const SOCKET = 'nbd.sock';
const CONNECT_PAUSE_MS = 20;
const START_TIMEOUT_MS = 30_000;

/**
 * A qemu-nbd for one reader, which does not change the disk, or for one writer. QEMU refuses to start a VM with the
 * disk meanwhile. It ends with its client, and before one has connected, the kernel ends it with this process, however
 * this process ends.
 */
export class NbdServer {
  private stderr = '';
  private failure?: NodeJS.ErrnoException;
  private hasEnded = false;
  private readonly ended: Promise<void>;

  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
    private readonly metaContext: string | undefined,
  ) {
    child.stderr
      ?.setEncoding('utf8')
      .on('data', (text: string) => (this.stderr = `${this.stderr}${text}`.slice(-4096)));
    this.ended = new Promise((resolve) => {
      const end = (): void => {
        this.hasEnded = true;
        resolve();
      };
      child.once('error', (error) => {
        this.failure = error;
        end();
      });
      child.once('close', end);
    });
  }

  /**
   * @param disk with an absolute path
   * @param folder private to this server
   */
  static start({ path, format }: ExportedDisk, folder: string, options: NbdServerOptions = {}): NbdServer {
    const { access = 'read', marks } = options;
    const args = [
      ...(access === 'read' ? ['--read-only'] : []),
      ...(marks === 'allocated' ? ['--allocation-depth'] : []),
      ...(typeof marks === 'object' ? [`--bitmap=${marks.bitmap}`] : []),
      ...['--format', format, '--export-name', EXPORT_NAME, '--socket', `/proc/self/cwd/${SOCKET}`, '--', path],
    ];
    const command = ['--pdeathsig', 'KILL', '--', 'qemu-nbd', ...args];
    const child = spawn('setpriv', command, {
      // The kernel refuses sockets whose paths are longer than 107 bytes, and the path of the folder can be longer.
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: englishEnvironment(),
    });
    return new NbdServer(child, folder, contextOf(marks));
  }

  /** @throws DomainError BUSY when the disk is in use, BACKEND_FORBIDDEN, VOLUME_NOT_FOUND, BACKEND_FAILED */
  open(clock: Clock, signal: AbortSignal): Promise<NbdReader> {
    return this.connect(clock, signal, (connection) => NbdReader.open(connection, EXPORT_NAME));
  }

  /** Only for a server that was started for writing. @throws DomainError like `open` */
  openWriter(clock: Clock, signal: AbortSignal): Promise<NbdWriter> {
    return this.connect(clock, signal, (connection) => NbdWriter.open(connection, EXPORT_NAME));
  }

  /** For parts in any order. @throws DomainError like `open` */
  openDisk(clock: Clock, signal: AbortSignal): Promise<NbdDisk> {
    return this.connect(clock, signal, (connection) => NbdDisk.open(connection, EXPORT_NAME, this.metaContext));
  }

  private async connect<T>(
    clock: Clock,
    signal: AbortSignal,
    open: (connection: NbdConnection) => Promise<T>,
  ): Promise<T> {
    const deadline = clock.now() + START_TIMEOUT_MS;
    for (;;) {
      signal.throwIfAborted();
      if (this.hasEnded) throw this.error();
      const connection = await NbdConnection.open(this.folder, SOCKET);
      if (connection) {
        return await open(connection).catch(async (error: unknown) => {
          connection.socket.destroy();
          await this.stop();
          // It listens before it opens the disk, so that a disk in use shows here.
          throw this.stderr === '' ? error : this.error();
        });
      }
      if (clock.now() >= deadline) throw new DomainError('BACKEND_TIMEOUT', 'qemu-nbd did not start in time.');
      await clock.delay(CONNECT_PAUSE_MS);
    }
  }

  /** Resolves when the process has ended on its own, because its client has left. It has closed the disk then. */
  whenEnded(): Promise<void> {
    return this.ended;
  }

  /** Ends the process and waits for its end. */
  async stop(): Promise<void> {
    if (!this.hasEnded) this.child.kill('SIGKILL');
    await this.ended;
  }

  private error(): DomainError {
    if (this.failure?.code === 'ENOENT') {
      return new DomainError('NOT_SUPPORTED', 'setpriv is not installed: install the package util-linux.');
    }
    if (/^setpriv: .*No such file/m.test(this.stderr)) {
      return new DomainError('NOT_SUPPORTED', 'qemu-nbd is not installed: install the package qemu-utils.');
    }
    const stderr = `error: ${this.stderr.trim().split('\n').at(-1) ?? ''}`;
    return translateFailure('qemu-nbd', { code: this.child.exitCode ?? 1, stdout: '', stderr });
  }
}

/** https://qemu.readthedocs.io/en/latest/interop/nbd.html */
function contextOf(marks: NbdServerOptions['marks']): string | undefined {
  if (marks === undefined) return undefined;
  return marks === 'allocated' ? 'qemu:allocation-depth' : `qemu:dirty-bitmap:${marks.bitmap}`;
}
