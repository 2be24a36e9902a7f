import 'reflect-metadata';
import { once } from 'node:events';
import { ModulesContainer } from '@nestjs/core';
import { FleetAuditLog } from '@headgate/domain-contracts';
import { MemoryBackend } from '@headgate/testing';
import { createAgentToken } from '../agents/testing/agent-client.js';
import { Edge } from '../testing/edge.js';
import { routesOf, type Route } from './routes.js';

/** Reads of a caller that could change something, or hand out a disk. */
const CHANGING_READS = ['/api/vms/default/db/export', '/api/vms/default/db/export?checkpoint=one'];
const READS = ['/api/vms', '/api/cts', '/api/folders', '/api/tasks', '/api/ext/schedules', '/api/ext/views'];

/** The agent's own way in, which has tests of its own. */
const isMcp = ({ path }: Route): boolean => path === '/api/ext/mcp';

const fill = (path: string): string =>
  path
    .replace(':ns', 'default')
    .replace(':name', path.includes('/cts/') ? 'box' : 'db')
    .replace(':action', 'stop')
    .replace(':port', '22')
    .replace(/:\w+/g, 'aaaaaaaaaa');

describe('a token with a leash for every action', () => {
  let edge: Edge;
  let id: string;
  let headers: Record<string, string>;

  beforeAll(async () => {
    edge = await new Edge(new MemoryBackend('lab')).open();
    await edge.send('GET', '/api/vms');
    const token = await createAgentToken(edge);
    id = token.id;
    headers = { authorization: `Bearer ${token.text}` };
  });
  afterAll(() => edge.close());

  const state = async (): Promise<string[]> => {
    const found: string[] = [];
    for (const path of READS) found.push((await edge.send('GET', path)).body);
    return found;
  };

  test('changes nothing by any route or socket, with or without a dry run or an idempotency key', async () => {
    const before = await state();
    const routes = routesOf(edge.service.app.get(ModulesContainer)).filter((route) => !isMcp(route));
    // Routes of the login for browsers without an identity do not look at tokens.
    const changing = routes.filter(
      ({ method, need }) => !['GET', 'HEAD', 'SOCKET'].includes(method) && need?.of !== 'visitor',
    );
    expect(changing.length).toBeGreaterThan(80);
    for (const { method, path } of changing)
      for (const [query, extra] of [
        ['', {}],
        ['?dryRun=true', {}],
        ['', { 'idempotency-key': 'a-key-of-the-agent' }],
      ] as const) {
        const body = {
          ref: 'vm/lab/default/db',
          path: 'prod',
          from: 'prod',
          to: 'old',
          refs: ['vm/lab/default/db'],
          action: 'stop',
        };
        const { status, json } = await edge.send(method, fill(path) + query, body, { ...headers, ...extra });
        expect([method, path, query, status, json.code]).toEqual([method, path, query, 403, 'NOT_PERMITTED']);
      }
    for (const path of CHANGING_READS) expect((await edge.send('GET', path, undefined, headers)).status).toBe(403);
    for (const { path } of routes.filter(({ method }) => method === 'SOCKET')) {
      const socket = edge.socket(fill(path), headers);
      socket.on('error', () => undefined);
      const [, response] = (await once(socket, 'unexpected-response')) as [
        unknown,
        { statusCode: number; resume(): void },
      ];
      response.resume();
      expect([path, response.statusCode]).toEqual([path, 403]);
      socket.terminate();
    }
    expect(await state()).toEqual(before);
    const entries = edge.service.app.get(FleetAuditLog).find({ token: id, limit: 1000 });
    expect(new Set(entries.map(({ kind, outcome }) => `${kind} ${outcome}`))).toEqual(new Set(['request denied']));
  });

  test('has no replay of an answer that its creator got under a key', async () => {
    const key = { 'idempotency-key': 'a-key-of-the-creator' };
    expect((await edge.send('POST', '/api/vms/default/db/tags', { tag: 'a', on: true }, key)).status).toBe(200);
    const replay = await edge.send('POST', '/api/vms/default/db/tags', { tag: 'a', on: true }, { ...key, ...headers });
    expect(replay.status).toBe(403);
  });

  test('reads what its scope has, with secrets masked', async () => {
    expect((await edge.send('GET', '/api/vms/default/db', undefined, headers)).status).toBe(200);
    expect((await edge.send('GET', '/api/ext/journal', undefined, headers)).status).toBe(403);
    expect((await edge.send('GET', '/api/ext/tokens', undefined, headers)).status).toBe(403);
  });

  test('is no way to the protocol for others', async () => {
    const other = await edge.send('POST', '/api/ext/tokens', { name: 'ci', actions: ['power'] });
    const bearer = { authorization: `Bearer ${String(other.json['token'])}` };
    for (const caller of [{}, bearer]) {
      const { status, json } = await edge.send('POST', '/api/ext/mcp', { method: 'initialize' }, caller);
      expect([status, json.error]).toEqual([403, expect.stringContaining('Only API tokens with a leash')]);
    }
  });
});
