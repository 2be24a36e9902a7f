import { RawTargetClient } from './raw-target-client.js';

const METRIC = /^synapse_http_server_requests_received_total\{(.*)\} ([\d.e+]+)$/gm;

/** How many requests each servlet of Synapse has received, by its name in Synapse's metrics. */
export class SynapseServlets {
  private readonly client: RawTargetClient;

  constructor(private readonly port: number) {
    this.client = new RawTargetClient(port);
  }

  /** The requests that each servlet receives while `send` runs. All of them must be answered by its end. */
  async during(send: () => Promise<void>): Promise<ReadonlyMap<string, number>> {
    const before = await this.counts();
    await send();
    const after = await this.counts();
    const received = new Map<string, number>();
    for (const [servlet, count] of after) {
      const more = count - (before.get(servlet) ?? 0);
      if (more > 0) received.set(servlet, more);
    }
    return received;
  }

  close(): void {
    this.client.close();
  }

  /** Synapse counts a request after its response, in the turn of its event loop before it reads the next one. */
  private async counts(): Promise<Map<string, number>> {
    const { status, body } = await this.client.send('GET', '/_synapse/metrics');
    if (status !== 200) throw new Error(`Synapse's metrics on port ${this.port}: ${status} ${body}`);
    const counts = new Map<string, number>();
    for (const [, labels = '', count] of body.matchAll(METRIC)) {
      const servlet = /servlet="([^"]*)"/.exec(labels)?.[1] ?? '';
      counts.set(servlet, (counts.get(servlet) ?? 0) + Number(count));
    }
    return counts;
  }
}
