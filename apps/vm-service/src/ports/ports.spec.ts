import 'reflect-metadata';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { ADMINISTRATOR, DomainError, type AccessScope, type TokenAction } from '@headgate/domain-contracts';
import { CreateToken } from '@headgate/access';
import { buildVm, MemoryBackend, withStatus, type OpenPort } from '@headgate/testing';
import { WebSocket } from 'ws';
import { Edge, refusalOf } from '../testing/edge.js';
import { MAX_PORTS_PER_CALLER } from './port-connections.js';

const DB = { kind: 'vm', context: 'lab', namespace: 'default', name: 'db' } as const;
const END = '{"end":true}';
const MUCH = 100 * 1024 * 1024;
const as = (login: string) => ({ 'tailscale-user-login': login });
const port = (number: number | string = 7, name = 'db') => `/api/ext/vms/default/${name}/ports/${number}`;

/** A socket with all that it has received. */
class Client {
  received = Buffer.alloc(0);
  readonly ends: string[] = [];

  constructor(readonly socket: WebSocket) {
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      if (isBinary) this.received = Buffer.concat([this.received, data]);
      else this.ends.push(String(data));
      socket.emit('more');
    });
  }

  async until(isDone: (client: Client) => boolean): Promise<void> {
    while (!isDone(this)) await once(this.socket, 'more');
  }

  get closed(): Promise<[number, string]> {
    return once(this.socket, 'close').then(([code, reason]) => [Number(code), String(reason)]);
  }
}

describe('a port of a guest', () => {
  let edge: Edge;
  let guest: Server;
  let accepted: Socket[];
  /** What accepts the connections at the ports of the VM. */
  let open: OpenPort;

  beforeEach(async () => {
    accepted = [];
    guest = createServer({ allowHalfOpen: true }, (socket) => {
      accepted.push(socket.on('error', () => undefined));
      guest.emit('accepted');
    }).listen(0, '127.0.0.1');
    await once(guest, 'listening');
    open = () => connectHalf(guest);
    const lab = new MemoryBackend('lab', { openPort: (ref, number) => open(ref, number) });
    edge = await new Edge(lab).open();
  });
  afterEach(async () => {
    await edge.close();
    for (const socket of accepted) socket.destroy();
    guest.close();
  });

  const program = async (): Promise<Socket> => {
    while (accepted.length === 0) await once(guest, 'accepted');
    return accepted.at(-1)!;
  };
  const opened = async (path = port(), headers: Record<string, string> = {}): Promise<Client> => {
    const client = new Client(edge.socket(path, headers));
    await once(client.socket, 'open');
    return client;
  };

  test('carries the bytes of a TCP connection, and the end of each direction', async () => {
    const client = await opened();
    client.socket.send(Buffer.from('question'));
    client.socket.send(END);
    const socket = await program();
    let asked = '';
    for await (const part of socket) asked += String(part);
    expect(asked).toBe('question');
    socket.end('answer');
    const closed = client.closed;
    await client.until(({ ends }) => ends.length > 0);
    expect([String(client.received), client.ends]).toEqual(['answer', [END]]);
    expect(await closed).toEqual([1000, 'The connection has ended.']);
  });

  test('carries 100 MiB each way at once, unchanged', async () => {
    const client = new Client(edge.socket(port()));
    await once(client.socket, 'open');
    client.socket.removeAllListeners('message');
    const socket = await program();
    socket.pipe(socket);
    const block = Buffer.alloc(256 * 1024);
    for (let at = 0; at < block.length; at += 4) block.writeUInt32LE((at * 2_654_435_761) % 2 ** 32, at);
    const twice = Buffer.concat([block, block]);
    let received = 0;
    let isWrong = false;
    client.socket.on('message', (data: Buffer) => {
      const at = received % block.length;
      isWrong ||= !data.equals(twice.subarray(at, at + data.length));
      received += data.length;
      client.socket.emit('more');
    });
    for (let sent = 0; sent < MUCH; sent += block.length)
      await new Promise((resolve) => client.socket.send(block, resolve));
    while (received < MUCH) await once(client.socket, 'more');
    expect([received, isWrong]).toEqual([MUCH, false]);
    client.socket.close();
  }, 60_000);

  test('is reset when its client goes away without an end', async () => {
    const client = await opened();
    client.socket.send(Buffer.from('half a fi'));
    const socket = await program();
    await once(socket, 'data');
    const error = new Promise((resolve) => socket.once('error', resolve));
    client.socket.terminate();
    expect(await error).toMatchObject({ code: 'ECONNRESET' });
  });

  test('that the guest resets closes its client with the reason', async () => {
    const client = await opened();
    const closed = client.closed;
    (await program()).resetAndDestroy();
    expect(await closed).toEqual([4500, 'The guest has reset the connection.']);
  });

  test('at which no program accepts connections closes its client with the reason', async () => {
    open = () => undefined;
    const client = new Client(edge.socket(port(81)));
    expect(await client.closed).toEqual([4500, 'No program of db accepts connections at port 81.']);
  });

  test('keeps bytes that arrive before the guest answers', async () => {
    const ports = edge.lab.require('guestPorts');
    const connectTo = ports.connect.bind(ports);
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    ports.connect = (ref, number) => answered.then(() => connectTo(ref, number));
    const client = await opened();
    client.socket.send(Buffer.from('early'));
    answer();
    const [data] = (await once(await program(), 'data')) as [Buffer];
    expect(String(data)).toBe('early');
    client.socket.close();
  });

  test('closes a client that sends text', async () => {
    const client = await opened();
    await program();
    const closed = client.closed;
    client.socket.send('GET / HTTP/1.1');
    expect((await closed)[0]).toBe(1002);
  });

  test.each([
    [port(7, 'none'), {}, 404],
    [port(7, 'web'), {}, 409],
    [port(7, 'twin'), {}, 409],
    [port(7, 'Bad'), {}, 400],
    [port(7, 'box'), {}, 404],
    [port(0), {}, 400],
    [port(65_536), {}, 400],
    [port('22x'), {}, 400],
    [port('%32%32'), {}, 400],
    [port('007'), {}, 400],
    [`${port()}/tcp`, {}, 404],
    [`${port()}?context=nope`, {}, 404],
    [`${port()}?context=other`, {}, 404],
    [port(), { origin: 'http://evil.example.org' }, 403],
    [port(), { host: 'evil.example.org' }, 403],
  ])('at %s with %j is refused with %i before it is opened', async (path, headers, status) => {
    expect(await refusalOf(edge.socket(path, headers))).toBe(status);
    expect(accepted).toEqual([]);
  });

  test('of an engine that has none is refused', async () => {
    await edge.close();
    const unavailable = { guestPorts: 'There is no network in memory.' };
    edge = await new Edge(new MemoryBackend('lab', { unavailable })).open();
    expect(await refusalOf(edge.socket(port()))).toBe(501);
  });

  test('closes when the VM stops, is deleted or gets a successor', async () => {
    const changes = [
      () => edge.lab.engine.put(withStatus(edge.lab.engine.vm(DB), 'Stopped')),
      () => edge.lab.engine.remove(DB),
      () => edge.lab.engine.put(withStatus(buildVm({ ref: DB, uid: 'another' }), 'Running')),
    ];
    for (const change of changes) {
      edge.lab.engine.put(withStatus(buildVm({ ref: DB, uid: 'first' }), 'Running'));
      await settled(() => edge.lab.engine.vm(DB).uid === 'first');
      const client = await opened();
      await program();
      const closed = client.closed;
      change();
      expect(await closed).toEqual([1001, 'The VM is not running any more.']);
      accepted.length = 0;
    }
  });

  test('is not connected with the successor of the VM that was asked for', async () => {
    const ports = edge.lab.require('guestPorts');
    const connectTo = ports.connect.bind(ports);
    ports.connect = async (ref, number) => {
      const connection = await connectTo(ref, number);
      edge.lab.engine.put(withStatus(buildVm({ ref: DB, uid: 'another' }), 'Running'));
      return connection;
    };
    const client = new Client(edge.socket(port()));
    expect((await client.closed)[0]).toBe(1001);
    expect(client.received).toHaveLength(0);
  });

  test('closes with the service', async () => {
    const client = await opened();
    await program();
    const closed = client.closed;
    await edge.service.close();
    expect((await closed)[0]).toBe(1001);
    await edge.open();
  });

  test('is limited for each caller', async () => {
    const clients = await Promise.all(Array.from({ length: MAX_PORTS_PER_CALLER }, () => opened()));
    expect(await refusalOf(edge.socket(port()))).toBe(429);
    clients[0]!.socket.close();
    await clients[0]!.closed;
    for (;;) {
      const socket = edge.socket(port());
      const isOpen = await Promise.race([
        once(socket, 'open').then(() => true),
        refusalOf(socket).then(() => false),
      ]).catch(() => false);
      if (isOpen) break;
    }
  });

  describe('for callers with limited rights', () => {
    let tokens = 0;
    const token = async (actions: readonly TokenAction[], more: object = {}, scope: AccessScope = {}) => {
      const body = { name: `ci-${++tokens}`, actions, scope, days: 1, ...more };
      const by = { login: 'ann', name: '', grant: ADMINISTRATOR };
      const created = await edge.service.app.get(CreateToken).run(body, by);
      return { id: created.token.id, headers: { authorization: `Bearer ${created.text}` } };
    };

    test('needs the action ports of a token, and none of the others is enough', async () => {
      await edge.reopen({ SVC_ADMINS: 'ann' });
      const others = ['read', 'console', 'power', 'change', 'guest', 'create', 'delete', 'export'] as const;
      expect(await refusalOf(edge.socket(port(), (await token(others)).headers))).toBe(403);
      const { headers } = await token(['ports']);
      (await opened(port(), headers)).socket.close();
      expect(await refusalOf(edge.socket('/api/tty/default/db', headers))).toBe(403);
      const outside = await token(['ports'], {}, { folder: 'elsewhere' });
      expect(await refusalOf(edge.socket(port(), outside.headers))).toBe(404);
    });

    test('is refused to readers, and to agents whatever their leash', async () => {
      await edge.reopen({ SVC_ADMINS: 'ann' });
      expect(await refusalOf(edge.socket(port(), as('bob')))).toBe(403);
      const leash = { agent: { actions: ['ports'], approval: 'none', changesPerHour: 10, maxPercentOfFolder: 100 } };
      const agent = await token(['ports'], leash);
      expect(await refusalOf(edge.socket(port(), agent.headers))).toBe(403);
      expect(accepted).toEqual([]);
    });

    test('closes with its token, and is in the journal', async () => {
      await edge.reopen({ SVC_ADMINS: 'ann' });
      const { id, headers } = await token(['ports']);
      const client = await opened(port(22), headers);
      await program();
      const closed = client.closed;
      await edge.send('DELETE', `/api/ext/tokens/${id}`, undefined, as('ann'));
      expect((await closed)[0]).toBe(1008);
      expect(await refusalOf(edge.socket(port(22), as('bob')))).toBe(403);
      const { json } = await edge.send('GET', '/api/ext/journal', undefined, as('ann'));
      const entries = json as unknown as { action: string; route?: string }[];
      expect(entries).toContainEqual(
        expect.objectContaining({ action: 'open port', ref: 'vm/lab/default/db', message: 'port 22', outcome: 'ok' }),
      );
      expect(entries).toContainEqual(
        expect.objectContaining({
          route: 'GET /api/ext/vms/:ns/:name/ports/:port',
          outcome: 'denied',
          code: 'NOT_PERMITTED',
        }),
      );
    });

    test('closes with a role', async () => {
      const file = join(edge.folder, 'roles.yaml');
      writeFileSync(file, 'admins: [ann]\nroles:\n  - { login: oscar, folder: prod, role: operator }\n');
      await edge.reopen({}, ['--config', file]);
      const ann = as('ann');
      for (const path of ['prod', 'other']) await edge.send('POST', '/api/folders', { path }, ann);
      await edge.send('POST', '/api/folders/members', { path: 'prod', ref: 'vm/lab/default/db' }, ann);
      expect(await refusalOf(edge.socket(port(), as('oscar')))).toBe(403);
      const body = { subject: { user: 'olga' }, role: 'admin', scope: { folder: 'prod' } };
      expect((await edge.send('POST', '/api/ext/roles', body, ann)).status).toBe(201);
      const client = await opened(port(), as('olga'));
      await program();
      const closed = client.closed;
      await edge.send('POST', '/api/folders/members', { path: 'other', ref: 'vm/lab/default/db' }, ann);
      expect((await closed)[0]).toBe(1008);
    });
  });
});

function connectHalf(server: Server): Socket {
  const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
  return Object.assign(
    socket.on('error', () => undefined),
    { reset: () => void socket.resetAndDestroy() },
  );
}

/** Waits for events of the fleet, which are delivered in turns of the loop. */
async function settled(isDone: () => boolean): Promise<void> {
  for (let turn = 0; turn < 100 || !isDone(); turn++) {
    if (turn > 1000) throw new DomainError('INTERNAL', 'The fleet has not changed.');
    await new Promise((resolve) => setImmediate(resolve));
  }
}
