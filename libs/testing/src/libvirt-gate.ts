import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Numbers of libvirt's remote_protocol.x for calls that change something. */
export const LIBVIRT_CALLS = {
  defineDomain: 350,
  setMetadata: 264,
  undefineDomain: 231,
  startDomain: 196,
  destroyDomain: 234,
  commitBlocks: 290,
  copyBlocks: 345,
  createVolume: 93,
  deleteVolume: 94,
} as const;

export type LibvirtCall = keyof typeof LIBVIRT_CALLS;

/**
 * https://libvirt.org/kbase/internals/rpc.html: length, program, version, procedure, type, serial and status, of four
 * bytes each.
 */
const REMOTE_PROGRAM = 0x20008086;
const CALL = 0;
const PROCEDURE_AT = 12;
const TYPE_AT = 16;
const SERIAL_AT = 20;
const HEADER_BYTES = 28;

export interface HeldCalls {
  /** Resolves when the first call has arrived. libvirt does not know it before `release()`. */
  readonly reached: Promise<void>;
  /** Lets the held calls and all later ones through. */
  release(): void;
}

interface Hold {
  readonly procedure: number;
  readonly messages: (() => void)[];
  readonly serials: Map<Socket, Set<number>>;
  readonly reach: () => void;
  skips: number;
}

/**
 * The way from a service to a libvirt. A test holds calls on it, so that an operation of the service goes on for as
 * long as the test needs; all other calls, also those of the same connection, reach libvirt.
 */
export class LibvirtGate {
  private readonly sockets = new Set<Socket>();
  private hold_: Hold | undefined;

  private constructor(
    private readonly folder: string,
    private readonly server: Server,
  ) {}

  /** @param uri of a libvirt with a Unix socket, as in `PrivateLibvirtd.uri` */
  static async open(uri: string): Promise<LibvirtGate> {
    const target = new URL(uri).searchParams.get('socket') ?? '';
    const folder = await mkdtemp(join(tmpdir(), 'hgg-'));
    const server = createServer();
    const gate = new LibvirtGate(folder, server);
    server.on('connection', (client) => gate.forward(client, connect(target)));
    server.listen(gate.socket);
    await once(server, 'listening');
    return gate;
  }

  get uri(): string {
    return `qemu+unix:///session?socket=${this.socket}`;
  }

  /**
   * Holds the calls of one procedure that come from now on.
   * @param skip lets that many of them through first
   */
  hold(call: LibvirtCall, skip = 0): HeldCalls {
    if (this.hold_) throw new Error('The gate holds calls already.');
    const reached = Promise.withResolvers<void>();
    const hold: Hold = {
      procedure: LIBVIRT_CALLS[call],
      messages: [],
      serials: new Map(),
      reach: reached.resolve,
      skips: skip,
    };
    this.hold_ = hold;
    return {
      reached: reached.promise,
      release: () => {
        if (this.hold_ !== hold) return;
        this.hold_ = undefined;
        for (const send of hold.messages) send();
      },
    };
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
    await rm(this.folder, { recursive: true, force: true });
  }

  private get socket(): string {
    return join(this.folder, 'libvirt-sock');
  }

  private forward(client: Socket, libvirt: Socket): void {
    for (const [socket, other] of [
      [client, libvirt],
      [libvirt, client],
    ] as const) {
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.sockets.delete(socket);
        other.destroy();
      });
    }
    libvirt.pipe(client);
    let rest = Buffer.alloc(0);
    client.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      for (;;) {
        const bytes = rest.length < HEADER_BYTES ? Infinity : rest.readUInt32BE(0);
        if (rest.length < bytes) return;
        const message = rest.subarray(0, bytes);
        rest = rest.subarray(bytes);
        const send = (): void => void libvirt.write(message);
        if (!this.keeps(client, message, send)) send();
      }
    });
  }

  /** Whether a message waits: a held call, or the data that follows it. */
  private keeps(client: Socket, message: Buffer, send: () => void): boolean {
    const hold = this.hold_;
    if (!hold || message.readUInt32BE(4) !== REMOTE_PROGRAM) return false;
    const serial = message.readUInt32BE(SERIAL_AT);
    const serials = hold.serials.get(client) ?? new Set();
    if (!serials.has(serial)) {
      const isCall = message.readUInt32BE(TYPE_AT) === CALL;
      if (!isCall || message.readUInt32BE(PROCEDURE_AT) !== hold.procedure || hold.skips-- > 0) return false;
      hold.serials.set(client, serials.add(serial));
      hold.reach();
    }
    hold.messages.push(send);
    return true;
  }
}
