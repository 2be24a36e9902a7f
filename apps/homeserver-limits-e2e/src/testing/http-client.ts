import { Agent, type IncomingHttpHeaders, request } from 'node:http';

export interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  // The tests assert the shape of a body; a type would repeat it.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  body: any;
  bytes: Buffer;
}

export interface CallOptions {
  token?: string;
  /** An object is sent as JSON, a buffer or a string as it is. */
  body?: object | Buffer | string;
  headers?: Record<string, string>;
  /** The client address in the header of a trusted proxy. */
  from?: string;
}

const agent = new Agent({ keepAlive: true });
afterAll(() => agent.destroy());

/** Sends a request with its target exactly as written, which fetch would normalize. */
export async function call(base: string, method: string, target: string, options: CallOptions = {}): Promise<Reply> {
  const { token, body, from } = options;
  const bytes = body === undefined ? undefined : Buffer.isBuffer(body) ? body : Buffer.from(textOf(body), 'utf8');
  const headers = {
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    ...(from !== undefined && { 'X-Forwarded-For': from }),
    ...(bytes !== undefined && { 'Content-Length': String(bytes.length) }),
    ...options.headers,
  };
  const { hostname, port } = new URL(base);
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const outgoing = request({ hostname, port, method, path: target, headers, agent }, (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.once('error', reject);
    response.once('end', () => {
      const received = Buffer.concat(chunks);
      const { statusCode: status = 0, headers: responseHeaders } = response;
      resolve({ status, headers: responseHeaders, body: parsed(received), bytes: received });
    });
  });
  outgoing.once('error', reject);
  outgoing.end(bytes);
  return promise;
}

const textOf = (body: object | string): string => (typeof body === 'string' ? body : JSON.stringify(body));

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
