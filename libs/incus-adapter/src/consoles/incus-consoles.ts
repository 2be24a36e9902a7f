import type { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import {
  ConsoleSource,
  DomainError,
  type ConsoleStream,
  type InstanceRef,
  type SerialLine,
  type Shell,
  type TerminalSize,
} from '@headgate/domain-contracts';
import { createWebSocketStream, type WebSocket } from 'ws';
import type { IncusApi } from '../api/incus-api.js';
import type { InstanceObject } from '../api/incus-objects.js';
import { IncusError } from '../api/translate-error.js';
import { whenIdle } from '../api/when-idle.js';
import { instancePath, type InstanceFinder } from '../engine/instance-finder.js';
import { openTerminal, type TerminalSockets } from './operation-sockets.js';

/** Starts bash where the image has it. */
const SHELL_SCRIPT = 'if command -v bash >/dev/null 2>&1; then exec bash -l; else exec sh -l; fi';
const DEFAULT_SIZE: TerminalSize = { columns: 80, rows: 24 };
/** The earlier output that is worth showing. */
const MAX_BACKLOG_BYTES = 64 * 1024;

/** Terminals over the websockets of operations. */
export class IncusConsoles extends ConsoleSource {
  override readonly screenSharing = 'none';

  constructor(
    private readonly api: IncusApi,
    private readonly finder: Pick<InstanceFinder, 'find'>,
  ) {
    super();
  }

  /** @throws DomainError NOT_SUPPORTED always: the server's screens of VMs speak SPICE */
  override async openVnc(ref: InstanceRef): Promise<ConsoleStream> {
    await this.running(ref);
    throw new DomainError(
      'NOT_SUPPORTED',
      `${ref.name} has no graphical console here: the server offers SPICE only, and this service speaks VNC.`,
    );
  }

  /**
   * The console that the guest itself writes to, which one client at a time can have open. Its earlier output is taken
   * from the server, and other readers no longer get it. The service opens it for VMs only, and shows none of this
   * engine: a terminal of a container is a shell.
   */
  override async openSerial(ref: InstanceRef): Promise<SerialLine> {
    const instance = await this.running(ref);
    const backlog = await this.backlogOf(instance);
    const body = { type: 'console', width: DEFAULT_SIZE.columns, height: DEFAULT_SIZE.rows };
    try {
      const { stream } = await this.terminal(instance, 'console', body);
      return { stream, backlog };
    } catch (error) {
      if (!IncusError.has(error, /already an active console|console.*in use/i)) throw error;
      throw new DomainError('BUSY', `Another client has the console of ${ref.name} open; close it there first.`, {
        cause: error,
      });
    }
  }

  override async openShell(ref: InstanceRef, size: TerminalSize): Promise<Shell> {
    if (ref.kind === 'vm') throw new DomainError('NOT_SUPPORTED', `${ref.name} is a VM: open its console instead.`);
    const instance = await this.running(ref);
    const body = {
      command: ['/bin/sh', '-c', SHELL_SCRIPT],
      environment: { TERM: 'xterm-256color' },
      interactive: true,
      'wait-for-websocket': true,
      width: size.columns,
      height: size.rows,
    };
    const { stream, control } = await this.terminal(instance, 'exec', body);
    return { stream, resize: (next) => resize(control, next) };
  }

  private async running(ref: InstanceRef): Promise<InstanceObject> {
    const instance = await this.finder.find(ref);
    if (instance.status === 'Running') return instance;
    const remedy = instance.status === 'Frozen' ? 'Resume it first.' : 'Start it first.';
    throw new DomainError('WRONG_STATE', `${ref.name} is not running. ${remedy}`);
  }

  private async terminal(
    instance: InstanceObject,
    action: 'exec' | 'console',
    body: Readonly<Record<string, unknown>>,
  ): Promise<{ readonly stream: Duplex; readonly control: WebSocket }> {
    const { project } = instance;
    const path = `${instancePath(instance)}/${action}`;
    const operation = await whenIdle(this.api, instance, () =>
      this.api.begin('POST', path, { query: { project }, body }),
    );
    const sockets = await openTerminal(this.api, operation);
    return { stream: streamOf(sockets), control: sockets.control };
  }

  /** Empty where the server has no log of the console, as of VMs on older servers. */
  private async backlogOf(instance: InstanceObject): Promise<Buffer> {
    try {
      const log = await this.api.stream(`${instancePath(instance)}/console`, { query: { project: instance.project } });
      return (await buffer(log)).subarray(-MAX_BACKLOG_BYTES);
    } catch (error) {
      if (DomainError.is(error, 'BACKEND_UNREACHABLE', 'BACKEND_TIMEOUT', 'BACKEND_FORBIDDEN')) throw error;
      return Buffer.alloc(0);
    }
  }
}

/** Whose end closes both sockets: the server would otherwise keep the program running. */
function streamOf({ data, control }: TerminalSockets): Duplex {
  const stream = createWebSocketStream(data);
  stream.on('end', () => stream.destroy()).on('close', () => control.close());
  control.on('close', () => stream.end());
  return stream;
}

function resize(control: WebSocket, { columns, rows }: TerminalSize): void {
  if (control.readyState !== control.OPEN) return;
  const args = { width: String(columns), height: String(rows) };
  control.send(JSON.stringify({ command: 'window-resize', args }));
}
