import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closeConnection, openLibvirt, parseLibvirtUri, procedures } from '@headgate/libvirt-rpc';

/** Results of a daemon, by the numbers of libvirt's remote_protocol.x. */
const RESULTS: Readonly<Record<number, readonly number[]>> = {
  66: [0, 0, 0, 1, 0, 0, 0, 0], // AUTH_LIST: one type, none
  1: [], // CONNECT_OPEN
  2: [], // CONNECT_CLOSE
  59: [0, 0, 0, 3, ...Buffer.from('lab'), 0], // CONNECT_GET_HOSTNAME
};
const REPLY = 1;
const HEADER_BYTES = 28;

/** A reply has the header of its call with another length and type. https://libvirt.org/kbase/internals/rpc.html */
function reply(call: Buffer): Buffer {
  const payload = Buffer.from(RESULTS[call.readUInt32BE(12)] ?? []);
  const header = Buffer.from(call.subarray(0, HEADER_BYTES));
  header.writeUInt32BE(HEADER_BYTES + payload.length, 0);
  header.writeUInt32BE(REPLY, 16);
  return Buffer.concat([header, payload]);
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'libvirt-'));
  const socket = join(folder, 'sock');
  const daemon = createServer((connection) => connection.on('data', (call) => connection.write(reply(call))));
  await new Promise<void>((resolve) => daemon.listen(socket, resolve));
  const connection = await openLibvirt(`qemu:///system?socket=${socket}`);
  const { hostname } = await connection.call(procedures.connectGetHostname, undefined);
  await closeConnection(connection);
  daemon.close();
  rmSync(folder, { recursive: true });
  const { transport } = parseLibvirtUri('qemu+ssh://root@host.example:2222/system');
  console.log(JSON.stringify({ hostname, host: transport.kind === 'ssh' && transport.host }));
}

void main();
