import { TestServer } from './test-server.js';

const SLOTS = 16_384;
const NODES = 3;
/** Nodes of a busy machine that answer late have not failed. */
const NODE_TIMEOUT_MS = 15_000;

/** A cluster of three primaries for one spec. */
export class TestCluster {
  private constructor(readonly servers: readonly TestServer[]) {}

  static async start(program: string): Promise<TestCluster> {
    const servers: TestServer[] = [];
    for (let node = 0; node < NODES; node++) {
      const options = (_folder: string, port: number, busPort: number) => [
        ...['--port', String(port), '--cluster-enabled', 'yes'],
        ...['--cluster-port', String(busPort), '--cluster-node-timeout', String(NODE_TIMEOUT_MS)],
      ];
      servers.push(await TestServer.start(program, options));
    }
    const cluster = new TestCluster(servers);
    await cluster.join();
    return cluster;
  }

  get urls(): string[] {
    return this.servers.map(({ url }) => url);
  }

  /** Runs a command on one node. */
  run(node: number, command: string[]): Promise<unknown> {
    return this.servers[node]!.run(command);
  }

  async close(): Promise<void> {
    for (const server of this.servers) await server.close();
  }

  private async join(): Promise<void> {
    const count = this.servers.length;
    for (let node = 0; node < count; node++) {
      const [first, end] = [node, node + 1].map((index) => Math.floor((SLOTS * index) / count));
      await this.run(node, ['CLUSTER', 'ADDSLOTSRANGE', String(first), String(end! - 1)]);
      const { port, busPort } = this.servers[node]!;
      if (node > 0) await this.run(0, ['CLUSTER', 'MEET', '127.0.0.1', String(port), String(busPort)]);
    }
    for (let node = 0; node < count; node++) {
      for (let attempts = 0; !(await this.isComplete(node)); attempts++) {
        if (attempts === 500) throw new Error(`Node ${node} did not join the cluster after 500 attempts.`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  }

  private async isComplete(node: number): Promise<boolean> {
    const info = String(await this.run(node, ['CLUSTER', 'INFO']));
    return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${this.servers.length}`);
  }
}
