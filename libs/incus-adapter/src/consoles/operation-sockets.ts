import { DomainError } from '@headgate/domain-contracts';
import type { WebSocket } from 'ws';
import type { IncusApi } from '../api/incus-api.js';
import type { OperationObject } from '../api/incus-objects.js';

/** The websockets of an operation that has a terminal. */
export interface TerminalSockets {
  /** The bytes of the terminal, both ways. */
  readonly data: WebSocket;
  readonly control: WebSocket;
}

/** The keys of the terminal's secrets. */
const DATA = '0';
const CONTROL = 'control';

/** Connects to the terminal of an operation. The server ends the operation when the sockets are closed. */
export async function openTerminal(api: IncusApi, operation: OperationObject): Promise<TerminalSockets> {
  const secrets = (operation.metadata?.fds ?? {}) as Readonly<Record<string, unknown>>;
  const connect = (key: string): Promise<WebSocket> => {
    const secret = secrets[key];
    if (typeof secret !== 'string')
      throw new DomainError('BACKEND_FAILED', `${api.context}: the server sent no secret for the socket ${key}.`);
    return api.socket(`/1.0/operations/${encodeURIComponent(operation.id)}/websocket`, { secret });
  };
  const data = await connect(DATA);
  try {
    return { data, control: await connect(CONTROL) };
  } catch (error) {
    data.terminate();
    throw error;
  }
}
