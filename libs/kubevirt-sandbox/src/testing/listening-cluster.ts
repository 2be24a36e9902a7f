import { WebSocket } from 'ws';
import { ManualClock, KubeSandbox } from '@headgate/kube-sandbox';
import { KubevirtSimulation, type SimulationOptions } from '../kubevirt-simulation.js';

const KUBEVIRT = '/apis/kubevirt.io/v1/namespaces/tailvm';
const ACTIONS = '/apis/subresources.kubevirt.io/v1/namespaces/tailvm';

/** The simulation behind a real port, with a clock that the test drives. */
export async function listeningCluster(options: SimulationOptions = {}) {
  const clock = new ManualClock();
  const simulation = new KubevirtSimulation(options);
  const sandbox = await KubeSandbox.listen({ clock, extensions: [simulation] });
  clock.advance(1000);
  const sockets: WebSocket[] = [];
  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(`${sandbox.url}${path}`, {
      method,
      headers: { ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const json = text.startsWith('{') ? (JSON.parse(text) as Record<string, never>) : undefined;
    return { status: response.status, text, json, headers: response.headers };
  };
  return {
    clock,
    sandbox,
    simulation,
    call,
    vms: `${KUBEVIRT}/virtualmachines`,
    vmis: `${KUBEVIRT}/virtualmachineinstances`,
    act: (resource: 'virtualmachines' | 'virtualmachineinstances', name: string, action: string, body?: unknown) =>
      call('PUT', `${ACTIONS}/${resource}/${name}/${action}`, body),
    ask: (name: string, what: string) => call('GET', `${ACTIONS}/virtualmachineinstances/${name}/${what}`),
    dial: (path: string, protocols: string[] = []) => {
      const socket = new WebSocket(`${sandbox.url.replace('http', 'ws')}${path}`, protocols);
      sockets.push(socket);
      return new SocketClient(socket);
    },
    consolePath: (name: string, device: string) => `${ACTIONS}/virtualmachineinstances/${name}/${device}`,
    close: async () => {
      for (const socket of sockets) socket.terminate();
      await sandbox.close();
    },
  };
}

/** A WebSocket client that collects its input, so that a test can wait for it. */
export class SocketClient {
  received = Buffer.alloc(0);
  readonly frames: Buffer[] = [];
  private waiting: (() => void)[] = [];
  readonly opened: Promise<void>;
  readonly closed: Promise<number>;

  constructor(readonly socket: WebSocket) {
    this.opened = new Promise((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    this.opened.catch(() => undefined);
    this.closed = new Promise((resolve) => socket.once('close', (code) => resolve(code)));
    socket.on('message', (data: Buffer) => {
      this.frames.push(data);
      this.received = Buffer.concat([this.received, data]);
      for (const check of this.waiting) check();
    });
  }

  /** Waits until the collected bytes satisfy the condition. */
  until(condition: (received: Buffer) => boolean): Promise<void> {
    if (condition(this.received)) return Promise.resolve();
    return new Promise((resolve) => {
      this.waiting.push(() => condition(this.received) && resolve());
    });
  }

  untilText(text: string): Promise<void> {
    return this.until((received) => received.toString('latin1').includes(text));
  }

  send(data: string | Buffer): void {
    this.socket.send(Buffer.from(data));
  }
}
