import type { Agent as HttpAgent } from 'node:http';
import type { Socket } from 'node:net';
import { CONNECT_TIMEOUT_MS, ConnectionOpener } from './connection-opener.js';

/** An option that Node hands through to the agent. */
export interface WaitOptions {
  /** How long the request may wait for a connection. */
  maxWaitMs: number;
}

/** A request that waits until its agent has a connection for it. */
export interface AgentRequest {
  readonly options: Parameters<HttpAgent['createConnection']>[0];
  readonly onCreated: (error: Error | null, socket?: Socket) => void;
}

/**
 * Makes an agent open only a few connections at a time.
 * @param openEvent the event of an open connection
 */
export function openFewAtOnce(
  agent: HttpAgent,
  openEvent: 'connect' | 'secureConnect',
): ConnectionOpener<AgentRequest> {
  const dial = agent.createConnection.bind(agent);
  const opener = new ConnectionOpener<AgentRequest>({
    dial: ({ options }) => dial(options) as Socket,
    openEvent,
    deliver: ({ onCreated }, socket) => onCreated(null, socket),
    reject: ({ onCreated }, error) => onCreated(error),
    spare: (socket) => socket.destroy(),
  });
  agent.createConnection = (options, onCreated) => {
    const { maxWaitMs = CONNECT_TIMEOUT_MS } = options as Partial<WaitOptions>;
    opener.open({ options, onCreated: onCreated as AgentRequest['onCreated'] }, maxWaitMs);
    return undefined;
  };
  return opener;
}
