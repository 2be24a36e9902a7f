/** A client of a port of a guest: a WebSocket, as far as the relay needs to know it. */
export interface PortClient {
  /** Bytes that were passed to `send` and are not on the wire yet. */
  readonly buffered: number;
  /** Calls `sent` when the bytes are on the wire, or never will be. */
  send(data: Buffer, sent: () => void): void;
  /** Sends that no more bytes follow. */
  sendEnd(): void;
  onData(listener: (data: Buffer) => void): void;
  /** Calls the listener when no more bytes follow from the client. */
  onEnd(listener: () => void): void;
  /** Calls the listener immediately when the client has already left. */
  onClose(listener: () => void): void;
  /** Stops reading, until `resume`. */
  pause(): void;
  resume(): void;
  /** @param code a WebSocket close code */
  close(code: number, reason: string): void;
}
