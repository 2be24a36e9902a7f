import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Resets the connection when the response is complete, instead of sending it, or after the first half of its body. */
export function resetResponse(response: ServerResponse, socket: Socket, moment: 'unanswered' | 'halfway'): void {
  const chunks: Buffer[] = [];
  const write = response.write.bind(response) as (data: Buffer, sent: () => void) => void;
  const collect = (data: unknown): void => {
    if (typeof data === 'string' || Buffer.isBuffer(data)) chunks.push(Buffer.from(data as string));
  };
  Object.assign(response, {
    flushHeaders: () => undefined,
    write: (data: unknown) => {
      collect(data);
      return true;
    },
    end: (data?: unknown) => {
      collect(data);
      const body = Buffer.concat(chunks);
      if (moment === 'unanswered' || body.length < 2) socket.resetAndDestroy();
      else write(body.subarray(0, body.length / 2), () => socket.resetAndDestroy());
      return response;
    },
  });
}
