import { once } from 'node:events';
import { KubeSandbox } from '@headgate/kube-sandbox';
import { KubevirtSimulation } from '@headgate/kubevirt-sandbox';
import { FixedClock } from '@headgate/testing';
import { jest } from '@jest/globals';
import { keyEvent } from './messages.js';
import { SharedScreen } from './shared-screen.js';
import { FORMATS } from './testing/formats.js';
import { RfbClient } from './testing/rfb-client.js';
import { SocketStream } from './testing/socket-stream.js';

// Many pixels are compared one by one.
jest.setTimeout(30_000);

const VMI = '/apis/subresources.kubevirt.io/v1/namespaces/tailvm/virtualmachineinstances/web';
const MIGRATIONS = '/apis/kubevirt.io/v1/namespaces/tailvm/virtualmachineinstancemigrations';
/** The banner of a simulated screen. */
const BLUE = (38 << 20) | (94 << 10) | 160;

describe('SharedScreen over a simulated KubeVirt', () => {
  let simulation: KubevirtSimulation;
  let sandbox: KubeSandbox;
  let clock: FixedClock;
  let streams: SocketStream[];
  let shared: SharedScreen;

  beforeEach(async () => {
    simulation = new KubevirtSimulation({ timeScale: 0 });
    sandbox = await KubeSandbox.listen({ extensions: [simulation] });
    simulation.seedVm({ name: 'web' });
    clock = new FixedClock();
    streams = [];
    shared = new SharedScreen({
      clock,
      open: async () => {
        const stream = await SocketStream.open(`${sandbox.url}${VMI}/vnc`, 'plain.kubevirt.io');
        streams.push(stream);
        return stream;
      },
      guest: { isRunning: () => true, whenRunning: async () => true },
      onEnd: () => undefined,
    });
  });
  afterEach(async () => {
    shared.end(1001, '');
    await sandbox.close();
  });

  const join = async (viewOnly: boolean, encodings: number[]): Promise<RfbClient> => {
    await shared.ready();
    const client = new RfbClient({ viewOnly, encodings, format: FORMATS[1]![1] });
    shared.add(client);
    await client.until(() => client.at(0, 0) === BLUE);
    return client;
  };
  const text = (): string => simulation.guestOf('tailvm', 'web').screen.text;
  const alike = (a: RfbClient, b: RfbClient) => (): boolean =>
    Buffer.from(a.pixels.buffer).equals(Buffer.from(b.pixels.buffer));
  /** Waits until a key that was typed is seen. */
  const type = async (viewer: RfbClient, letter: string, ...watchers: RfbClient[]): Promise<void> => {
    const before = watchers.map((watcher) => Uint32Array.from(watcher.pixels));
    viewer.say(keyEvent(true, letter.charCodeAt(0)), keyEvent(false, letter.charCodeAt(0)));
    await Promise.all(
      watchers.map((watcher, index) =>
        watcher.until(() => watcher.pixels.some((pixel, at) => pixel !== before[index]?.[at])),
      ),
    );
  };

  test('two look at one screen over one session, and both see what one of them types', async () => {
    const operator = await join(false, [16, 0, -223]);
    const onlooker = await join(true, [16]);
    onlooker.say(keyEvent(true, 'x'.charCodeAt(0)));
    await type(operator, 'q', operator, onlooker);
    await onlooker.until(alike(operator, onlooker));
    expect(text()).toMatch(/q$/);
    expect(streams).toHaveLength(1);
    expect([operator.closed, onlooker.closed]).toEqual([undefined, undefined]);
  });

  test('all stay through a live migration', async () => {
    const operator = await join(false, [16, 0, -223]);
    const onlooker = await join(true, [16]);
    const cut = once(streams[0]!, 'close');
    const answer = await fetch(sandbox.url + MIGRATIONS, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        apiVersion: 'kubevirt.io/v1',
        kind: 'VirtualMachineInstanceMigration',
        metadata: { name: 'move' },
        spec: { vmiName: 'web' },
      }),
    });
    expect(answer.status).toBe(201);
    await cut;
    const before = operator.updates;
    clock.advance(100);
    await operator.until(() => operator.updates > before);
    expect(streams).toHaveLength(2);
    await type(operator, 'z', operator, onlooker);
    expect(text()).toMatch(/z$/);
    expect([operator.closed, onlooker.closed]).toEqual([undefined, undefined]);
  });
});
