import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LIBVIRT_CALLS, LibvirtGate } from './libvirt-gate.js';

const REMOTE_PROGRAM = 0x20008086;
const KEEPALIVE_PROGRAM = 0x6b656570;
const STREAM = 3;
const LIST_DOMAINS = 273;

/** A message of libvirt's protocol without content. */
function message(procedure: number, serial: number, type = 0, program = REMOTE_PROGRAM): Buffer {
  const bytes = Buffer.alloc(28);
  [28, program, 1, procedure, type, serial, 0].forEach((field, i) => bytes.writeUInt32BE(field, 4 * i));
  return bytes;
}

describe('LibvirtGate', () => {
  let folder: string;
  let libvirt: Server;
  let gate: LibvirtGate;
  let client: Socket;
  /** Procedure and serial of the messages that libvirt has received. */
  let received: string[];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hgg-spec-'));
    received = [];
    libvirt = createServer((socket) => {
      let rest = Buffer.alloc(0);
      socket.on('data', (chunk: Buffer) => {
        for (rest = Buffer.concat([rest, chunk]); rest.length >= 28; rest = rest.subarray(28))
          received.push(`${rest.readUInt32BE(12)} ${rest.readUInt32BE(20)}`);
        socket.write(chunk);
      });
    });
    libvirt.listen(join(folder, 'libvirt-sock'));
    await once(libvirt, 'listening');
    gate = await LibvirtGate.open(`qemu+unix:///session?socket=${join(folder, 'libvirt-sock')}`);
    client = connect(new URL(gate.uri).searchParams.get('socket') ?? '');
    await once(client, 'connect');
  });

  afterEach(async () => {
    client.destroy();
    await gate.close();
    libvirt.close();
    await rm(folder, { recursive: true, force: true });
  });

  const until = async (count: number): Promise<void> => {
    while (received.length < count) await once(client, 'data');
  };

  test('holds the calls of one procedure with their data, and lets all others through', async () => {
    const { createVolume, defineDomain } = LIBVIRT_CALLS;
    const held = gate.hold('createVolume');
    client.write(Buffer.concat([message(createVolume, 1), message(createVolume, 1, STREAM), message(defineDomain, 2)]));
    await held.reached;
    client.write(message(createVolume, 3, 0, KEEPALIVE_PROGRAM));
    client.write(message(LIST_DOMAINS, 4));
    await until(3);
    expect(received).toEqual([`${defineDomain} 2`, `${createVolume} 3`, `${LIST_DOMAINS} 4`]);
    held.release();
    held.release();
    client.write(message(createVolume, 5));
    await until(6);
    expect(received.slice(3)).toEqual([`${createVolume} 1`, `${createVolume} 1`, `${createVolume} 5`]);
  });

  test('skips as many calls as a test asks for, and reads messages that arrive in pieces', async () => {
    const { setMetadata } = LIBVIRT_CALLS;
    const held = gate.hold('setMetadata', 1);
    expect(() => gate.hold('createVolume')).toThrow('holds calls already');
    const bytes = Buffer.concat([message(setMetadata, 1), message(setMetadata, 2), message(LIST_DOMAINS, 3)]);
    client.write(bytes.subarray(0, 30));
    await until(1);
    client.write(bytes.subarray(30));
    await held.reached;
    await until(2);
    expect(received).toEqual([`${setMetadata} 1`, `${LIST_DOMAINS} 3`]);
    held.release();
    await until(3);
  });
});
