import 'reflect-metadata';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { Edge } from '../testing/edge.js';
import { checkSyslog } from './journal-syslog.js';

const PASSWORD = 'correct-horse-battery';

describe('the journal over syslog', () => {
  let edge: Edge;
  let server: Server;
  let received: string;
  const sockets = new Set<Socket>();

  beforeEach(async () => {
    received = '';
    server = createServer((socket) => {
      sockets.add(socket);
      socket.on('data', (data) => (received += data.toString()));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    edge = new Edge();
    await open();
  });
  afterEach(async () => {
    await edge.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  const args = (): string[] => {
    const file = join(edge.folder, 'syslog.yaml');
    const { port } = server.address() as AddressInfo;
    writeFileSync(file, `journal: { syslog: { address: "127.0.0.1:${port}", transport: tcp, hostname: me } }\n`);
    return ['--config', file];
  };
  const open = async (): Promise<void> => {
    await edge.open({}, args());
  };
  const until = async (text: string): Promise<void> => {
    while (!received.includes(text)) await setImmediate();
  };

  test('sends each entry once and without secrets, over a restart', async () => {
    await edge.send('POST', '/api/ext/guest/password', { ref: 'vm/lab/default/db', user: 'root', password: PASSWORD });
    await edge.send('POST', '/api/vms/default/db/tags', { tag: 'one', on: true });
    await until('add tag one');
    expect(received).toMatch(/\d+ <86>1 \S+Z me headgate \d+ action \[headgate@32473 number="1"/);
    expect(received).not.toContain(PASSWORD);
    await edge.send('POST', '/api/vms/default/db/tags', { tag: 'last', on: true });
    await edge.reopen({}, args());
    await edge.send('POST', '/api/vms/default/db/tags', { tag: 'new', on: true });
    await until('add tag new');
    expect(received.match(/action="add tag last"/g)).toHaveLength(1);
  });

  test('is checked', async () => {
    await edge.send('POST', '/api/vms/default/db/tags', { tag: 'one', on: true });
    await until('add tag one');
    const checks = (await edge.send('GET', '/api/doctor')).json as unknown as { name: string; status: string }[];
    expect(checks.find(({ name }) => name === 'syslog')).toMatchObject({ status: 'ok' });
  });
});

describe('the check of the server of syslog', () => {
  const state = { isConnected: true, error: undefined, sent: 1, lost: 0 };

  test.each([
    [state, 'ok'],
    [{ ...state, lost: 3 }, 'warning'],
    [{ ...state, isConnected: false, error: 'connect ECONNREFUSED' }, 'error'],
  ])('of %j is %s', (of, status) => {
    expect(checkSyslog(of)).toMatchObject([{ status }]);
  });

  test('is absent without a server', () => {
    expect(checkSyslog(undefined)).toEqual([]);
  });
});
