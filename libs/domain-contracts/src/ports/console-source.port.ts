import type { Duplex } from 'node:stream';
import type { InstanceRef } from '../values/instance-ref.js';

/** The raw bytes of a console, both ways. */
export interface ConsoleStream extends Duplex {
  /** Returns the buffer of a `data` event for a later read. Its content changes after that. */
  recycle?(data: Buffer): void;
}

export interface SerialLine {
  readonly stream: ConsoleStream;
  /** The guest's earlier output, as far as the backend kept it. */
  readonly backlog: Buffer;
}

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

export interface Shell {
  readonly stream: Duplex;
  resize(size: TerminalSize): void;
}

export interface ScreenOptions {
  /** Fails instead of ending the session of another program. */
  readonly keepOthers?: boolean;
}

/** Opens the consoles of an instance. The caller decides who may view and who may type. */
export abstract class ConsoleSource {
  /**
   * Whether viewers of a graphical console share one connection to the backend. `required`: the backend serves one
   * viewer at a time. `preferred`: it serves a limited number. `none`: each viewer has a connection of its own.
   */
  abstract readonly screenSharing: 'required' | 'preferred' | 'none';

  /**
   * The RFB byte stream of the graphical console.
   * @throws DomainError INSTANCE_NOT_FOUND, WRONG_STATE when the instance is not running, NOT_SUPPORTED also when
   *   `keepOthers` can't be promised, BUSY
   */
  abstract openVnc(ref: InstanceRef, options?: ScreenOptions): Promise<ConsoleStream>;

  /** @throws DomainError INSTANCE_NOT_FOUND, WRONG_STATE, NOT_SUPPORTED */
  abstract openSerial(ref: InstanceRef): Promise<SerialLine>;

  /** A shell inside a container. @throws DomainError INSTANCE_NOT_FOUND, WRONG_STATE, NOT_SUPPORTED */
  abstract openShell(ref: InstanceRef, size: TerminalSize): Promise<Shell>;
}
