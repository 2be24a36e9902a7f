import { Agent, request } from 'node:http';

export interface LaneReply {
  readonly status: number;
  readonly text: string;
}

/** One kept-alive connection, so that all of its requests reach the same worker. */
export class Lane {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });

  private constructor(private readonly url: string) {}

  /** Opens connections at the same time, which go to different workers as long as there are others. */
  static async open(url: string, count: number): Promise<Lane[]> {
    const lanes = Array.from({ length: count }, () => new Lane(url));
    await Promise.all(lanes.map((lane) => lane.call('GET', '/_matrix/client/versions')));
    return lanes;
  }

  /** @param body an object is sent as JSON */
  call(method: string, target: string, body?: object, headers: Record<string, string> = {}): Promise<LaneReply> {
    const { promise, resolve, reject } = Promise.withResolvers<LaneReply>();
    const text = body === undefined ? '' : JSON.stringify(body);
    const { hostname, port } = new URL(this.url);
    const { agent } = this;
    const length = { 'Content-Length': String(Buffer.byteLength(text)) };
    const outgoing = request(
      { hostname, port, method, path: target, agent, headers: { ...length, ...headers } },
      (response) => {
        response.setEncoding('utf8');
        let received = '';
        response.on('data', (part: string) => (received += part));
        response.once('error', reject);
        response.once('end', () => resolve({ status: response.statusCode ?? 0, text: received }));
      },
    );
    outgoing.once('error', reject);
    outgoing.end(text);
    return promise;
  }

  close(): void {
    this.agent.destroy();
  }
}
