import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import type { Edge } from './edge.js';

export interface OpenStream {
  text(): string;
  until(text: string): Promise<void>;
  readonly ended: Promise<unknown>;
  close(): void;
}

/** An event stream of the service, with all that it has sent. */
export async function openStream(edge: Edge, headers: Record<string, string>, path = '/api/vms'): Promise<OpenStream> {
  const request = get(`http://${edge.base}${path}`, { headers: { ...headers, accept: 'text/event-stream' } });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  let seen = '';
  response.on('data', (data: Buffer) => (seen += String(data)));
  const ended = new Promise((resolve) => {
    response.once('close', resolve);
    response.on('error', resolve);
  });
  return {
    text: () => seen,
    until: async (text) => {
      while (!seen.includes(text)) await once(response, 'data');
    },
    ended,
    close: () => request.destroy(),
  };
}
