import { PassThrough } from 'node:stream';
import type { InstanceRef } from '@headgate/domain-contracts';
import { readUntil } from '@headgate/testing';
import { NAMESPACE, SandboxHarness } from '../testing/sandbox-harness.contract.js';

const VMIS = 'virtualmachineinstances.kubevirt.io';

interface Vmi {
  metadata: { name: string };
  spec: { networks: object[]; domain: { devices: { interfaces: object[] } } };
  status: { interfaces?: { name: string; ipAddress?: string }[] };
}

describe('ports of guests in a cluster', () => {
  let harness: SandboxHarness;
  let dialed: string[];
  beforeEach(async () => {
    harness = await SandboxHarness.open();
    dialed = [];
    harness.simulation.chooseGuestPorts((name, port) => {
      dialed.push(`${name}:${port}`);
      return new PassThrough();
    });
  });
  afterEach(() => harness.close());

  const ports = () => harness.backend.require('guestPorts');
  const change = (ref: InstanceRef, edit: (vmi: Vmi) => void) => {
    const { store } = harness.simulation.context;
    store.patch(VMIS, { namespace: NAMESPACE, name: ref.name }, (vmi) => edit(vmi as unknown as Vmi));
  };

  test('are reached at the address of the pod, by their number', async () => {
    const ref = await harness.givenVm('Running');
    const connection = await ports().connect(ref, 8443);
    connection.write('hello\n');
    expect(await readUntil(connection, /\n/)).toBe('hello\n');
    expect(dialed).toEqual([`${ref.name}:8443`]);
    connection.destroy();
  });

  test.each<[string, (vmi: Vmi) => void, RegExp]>([
    ['another address than that of its pod', ({ status }) => (status.interfaces![0]!.ipAddress = '127.0.0.1'), /pod/],
    ['the address of a neighbor', ({ status }) => (status.interfaces![0]!.ipAddress = '10.244.0.250'), /pod/],
    ['no address', ({ status }) => delete status.interfaces![0]!.ipAddress, /pod/],
    ['no network card', ({ status }) => delete status.interfaces, /network card/],
    [
      'a first network card on another network',
      ({ spec }) => (spec.networks = [{ name: 'default', multus: { networkName: 'lan' } }]),
      /masquerade/,
    ],
    [
      'a bridge to the network of its pod, whose address the agent reports',
      ({ spec }) => (spec.domain.devices.interfaces = [{ name: 'default', bridge: {} }]),
      /masquerade/,
    ],
    [
      'a status that begins with a card that its specification does not have',
      ({ status }) => status.interfaces!.unshift({ name: 'claimed', ipAddress: '169.254.169.254' }),
      /masquerade/,
    ],
  ])('are not reached when the guest has %s', async (_title, edit, message) => {
    const ref = await harness.givenVm('Running');
    change(ref, edit);
    await expect(ports().connect(ref, 22)).rejects.toMatchObject({
      code: 'NOT_SUPPORTED',
      message: expect.stringMatching(message),
    });
    expect(dialed).toEqual([]);
  });

  test('end when the VM is deleted, and fail when the connection to the cluster is cut', async () => {
    const ref = await harness.givenVm('Running');
    const [ended, cut] = [await ports().connect(ref, 1), await ports().connect(ref, 2)];
    const failure = new Promise((resolve) => cut.once('error', resolve));
    const end = new Promise<void>((resolve) => ended.resume().once('end', resolve));
    cut.resume();
    // ws ends the connection of a client that sends a reserved opcode with close code 1002.
    (cut as unknown as { socket: { _socket: { write(data: Buffer): void } } }).socket._socket.write(
      Buffer.from([0xff, 0x80, 0, 0, 0, 0]),
    );
    expect(await failure).toMatchObject({ code: 'BACKEND_FAILED' });
    await harness.deleteExternally(ref);
    await end;
  });

  test('keep what the guest sends after the end of its input', async () => {
    const guest = new PassThrough();
    harness.simulation.chooseGuestPorts(() => guest);
    const connection = await ports().connect(await harness.givenVm('Running'), 80);
    connection.end();
    guest.push('late answer\n');
    expect(await readUntil(connection, /\n/)).toBe('late answer\n');
    guest.push(null);
    await new Promise((resolve) => connection.resume().once('close', resolve));
  });

  test('do not need more rights than the adapter has', async () => {
    const ref = await harness.givenVm('Running');
    harness.simulation.chooseGuestPorts(undefined);
    const ssh = await ports().connect(ref, 22);
    expect(await readUntil(ssh, /\n/)).toMatch(/^SSH-2\.0-/);
    ssh.destroy();
    await expect(ports().connect(ref, 81)).rejects.toMatchObject({ code: 'WRONG_STATE' });
  });
});
