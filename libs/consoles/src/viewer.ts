/** A client that looks at a console: a WebSocket, as far as the broker needs to know it. */
export interface Viewer {
  /** Whether the service drops this viewer's input. */
  readonly viewOnly: boolean;
  /** Bytes that were passed to `send` and are not on the wire yet. */
  readonly buffered: number;
  /** Calls `sent` when the bytes are on the wire, or never will be. */
  send(data: Buffer, sent: () => void): void;
  onInput(listener: (data: Buffer) => void): void;
  /** Calls the listener immediately when the viewer has already left. */
  onClose(listener: () => void): void;
  /** Stops reading input, until `resume`. */
  pause(): void;
  resume(): void;
  /** @param code a WebSocket close code */
  close(code: number, reason: string): void;
}

/** Why a console ends, as WebSocket close codes; 4000 to 4999 are free for applications. */
export const CLOSE_CODES = {
  /** The guest stopped, or its console ended. */
  ended: 1000,
  /** The service shuts down. */
  shutdown: 1001,
  /** The console could not be opened, or failed; the reason says why. */
  failed: 4500,
  /** The viewer violated the protocol. */
  protocol: 1002,
  /** The viewer received nothing for too long. */
  stalled: 4508,
} as const;

const MAX_REASON_BYTES = 123;

/** Shortens a close reason to the length that WebSockets allow. */
export const closeReason = (text: string): string => {
  let reason = text;
  while (Buffer.byteLength(reason) > MAX_REASON_BYTES) reason = reason.slice(0, -1);
  return reason;
};
