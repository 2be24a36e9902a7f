/** Somebody who looks at a console: a WebSocket, as far as the broker needs to know it. */
export interface Viewer {
  /** His input is dropped on the server. */
  readonly viewOnly: boolean;
  /** Bytes that were sent and have not left yet. */
  readonly buffered: number;
  /** `left` is called when the bytes have left, or never will. */
  send(data: Buffer, left: () => void): void;
  onInput(listener: (data: Buffer) => void): void;
  /** Called at once when he has left already. */
  onClose(listener: () => void): void;
  /** Stops and goes on taking input. */
  pause(): void;
  resume(): void;
  /** @param code a WebSocket close code */
  close(code: number, reason: string): void;
}

/** Why a console ends, as WebSocket close codes; 4000 to 4999 are the application's own. */
export const CLOSE = {
  /** The guest stopped, or its console ended. */
  ended: 1000,
  /** The console could not be opened; the reason says why. */
  failed: 4500,
  /** The viewer broke the protocol. */
  protocol: 1002,
  /** The viewer took no bytes for too long. */
  stalled: 4508,
} as const;

/** A close reason may have 123 bytes. */
export const closeReason = (text: string): string => {
  let reason = text;
  while (Buffer.byteLength(reason) > 123) reason = reason.slice(0, -1);
  return reason;
};
