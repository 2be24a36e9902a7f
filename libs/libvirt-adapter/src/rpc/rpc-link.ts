import {
  closeConnection,
  openLibvirt,
  parseLibvirtUri,
  RpcCallError,
  RpcConnectionError,
  type KeepaliveOptions,
  type Procedure,
  type RpcCallOptions,
  type RpcConnection,
  type Timers,
} from '@headgate/libvirt-rpc';
import { TransportError } from '../connection/transport-error.js';
import { translateRpcError } from './rpc-errors.js';

export interface RpcLinkOptions {
  readonly uri: string;
  readonly timers?: Timers;
  readonly keepalive?: KeepaliveOptions;
  /** Replaces the way to libvirt in tests. */
  readonly open?: typeof openLibvirt;
}

/** A hanging daemon is detected within 6 s. */
const KEEPALIVE: KeepaliveOptions = { intervalMs: 2000, count: 2 };

interface Held {
  readonly connection: Promise<RpcConnection>;
  users: number;
  isRetired: boolean;
}

/** Keeps a connection for calls, opens it when it is needed, and opens a new one after it broke. */
export class RpcLink {
  private held?: Held;
  private isClosed = false;

  constructor(private readonly options: RpcLinkOptions) {}

  /** @throws DomainError, see `translateRpcError` */
  async call<A, R>(procedure: Procedure<A, R>, args: A, options?: RpcCallOptions): Promise<R> {
    const held = this.hold();
    held.users++;
    try {
      const connection = await held.connection;
      return await connection.call(procedure, args, options);
    } catch (error) {
      // libvirt still works on the call, and accepts few at a time from one connection.
      if (error instanceof RpcCallError && error.reason === 'timeout') this.retire(held);
      throw this.translate(error);
    } finally {
      held.users--;
      this.closeUnused(held);
    }
  }

  /** Opens a connection that is not shared. The caller closes it. */
  async open(keepalive?: KeepaliveOptions): Promise<RpcConnection> {
    try {
      return await this.connect(keepalive);
    } catch (error) {
      throw this.translate(error);
    }
  }

  translate(error: unknown): unknown {
    if (error instanceof RpcConnectionError && error.failure === 'unreachable' && this.isStartedByVirsh()) {
      return new TransportError(error.message, false, { cause: error });
    }
    return translateRpcError(error);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const { held } = this;
    this.held = undefined;
    const connection = await held?.connection.catch(() => undefined);
    if (connection) await closeConnection(connection);
  }

  private hold(): Held {
    if (this.held) return this.held;
    const held: Held = { connection: this.connect(this.options.keepalive), users: 0, isRetired: false };
    this.held = held;
    const release = (): void => {
      if (this.held === held) this.held = undefined;
    };
    held.connection.then((connection) => connection.onClose(release), release);
    return held;
  }

  private async connect(keepalive = KEEPALIVE): Promise<RpcConnection> {
    if (this.isClosed) throw new RpcConnectionError('closed', 'The connection to libvirt was closed.');
    const { uri, timers, open = openLibvirt } = this.options;
    const connection = await open(uri, { keepalive, timers });
    if (!this.isClosed) return connection;
    connection.close();
    throw new RpcConnectionError('closed', 'The connection to libvirt was closed.');
  }

  private retire(held: Held): void {
    held.isRetired = true;
    if (this.held === held) this.held = undefined;
  }

  private closeUnused(held: Held): void {
    if (!held.isRetired || held.users > 0) return;
    held.connection.then(
      (connection) => connection.close(),
      () => undefined,
    );
  }

  /** The daemon of a session runs on demand. virsh may know another place of it, and reports why it does not start. */
  private isStartedByVirsh(): boolean {
    const { isSession, transport } = parseLibvirtUri(this.options.uri);
    return isSession && transport.kind === 'unix' && !/[?&]socket=/.test(this.options.uri);
  }
}
