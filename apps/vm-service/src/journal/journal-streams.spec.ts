import 'reflect-metadata';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { Audit, AuditLog, FleetAuditLog, type AuditEntry } from '@headgate/domain-contracts';
import { ExportCheck } from '@headgate/journal-chain';
import { RegistryDatabase } from '@headgate/registry-store';
import { Edge } from '../testing/edge.js';
import { StreamReader } from '../testing/stream-reader.js';
import { ExportJournal, MAX_EXPORTS } from './export-journal.js';
import { ENTRIES_PER_BATCH, JournalFeed } from './journal-feed.js';

const ann = { 'tailscale-user-login': 'ann' };
const eve = { 'tailscale-user-login': 'eve' };

describe('the streams of the journal', () => {
  let edge: Edge;
  let readers: StreamReader[];

  beforeEach(async () => {
    readers = [];
    edge = await new Edge().open({ SVC_ADMINS: 'ann' });
    await edge.send('GET', '/api/vms');
  });

  afterEach(async () => {
    for (const reader of readers) reader.close();
    await edge.close();
  });

  const open = async (headers: Record<string, string> = ann, query = ''): Promise<StreamReader> => {
    const reader = await StreamReader.open(`http://${edge.base}/api/ext/journal/stream${query}`, headers);
    readers.push(reader);
    return reader;
  };
  const tag = async (name: string): Promise<void> => {
    const { status } = await edge.send('POST', '/api/vms/default/db/tags', { tag: name, on: true }, ann);
    expect(status).toBe(200);
  };
  const append = (count: number, entry: Partial<AuditEntry> = {}): void => {
    const log = edge.service.app.get(AuditLog);
    edge.service.app.get(RegistryDatabase, { strict: false }).transaction(() => {
      for (let index = 0; index < count; index++)
        log.append({
          time: new Date().toISOString(),
          caller: 'bob',
          action: `act ${index}`,
          ref: '',
          outcome: 'ok',
          message: '',
          ...entry,
        });
    });
  };
  const exported = async (query = ''): Promise<string[]> => {
    const response = await fetch(`http://${edge.base}/api/ext/journal/export${query}`, { headers: ann });
    expect(response.status).toBe(200);
    return (await response.text()).trimEnd().split('\n');
  };
  const verify = (lines: readonly string[]) => {
    const check = new ExportCheck();
    for (const line of lines) check.add(line);
    return check.finish();
  };

  test('send each new entry with its hash, and continue behind the last one', async () => {
    await tag('early');
    const reader = await open();
    const ready = await reader.next('ready');
    await tag('one');
    const one = await reader.next<{ action: string; hash: string }>('entry');
    expect(one.data).toMatchObject({
      action: 'add tag one',
      caller: 'ann',
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(Number(one.id)).toBe(Number(ready.id) + 1);
    reader.close();
    await tag('two');
    await tag('three');
    const resumed = await open({ ...ann, 'last-event-id': String(one.id) });
    await resumed.next('entry', ({ action }) => action === 'add tag three');
    expect(resumed.names()).toEqual(['resumed', 'entry', 'entry']);
    const paged = await open(ann, `?lastEventId=${String(ready.id)}`);
    await paged.next('entry', ({ action }) => action === 'add tag three');
    expect(paged.names()).toEqual(['resumed', 'entry', 'entry', 'entry']);
  });

  test('continue over more entries than one batch, and name those that were deleted meanwhile', async () => {
    append(2 * ENTRIES_PER_BATCH + 10);
    const reader = await open({ ...ann, 'last-event-id': '0' });
    await reader.next('entry', ({ action }) => action === `act ${2 * ENTRIES_PER_BATCH + 9}`);
    const numbers = reader.events.filter(({ name }) => name === 'entry').map(({ id }) => Number(id));
    expect(numbers).toEqual(Array.from(numbers, (_none, index) => index + 1));
    jest.spyOn(edge.service.app.get(FleetAuditLog), 'deleted').mockReturnValue({ action: 0, request: 5 });
    const late = await open({ ...ann, 'last-event-id': '3' });
    expect((await late.next('gap')).data).toEqual({ after: 3, through: 5 });
  });

  test.each(['999999', '-1', 'abc', '1e3', '9'.repeat(40)])(
    'begin with the newest entry after the unknown number %s',
    async (id) => {
      const reader = await open({ ...ann, 'last-event-id': id });
      await reader.next('ready');
      expect(reader.names()).toEqual(['ready']);
    },
  );

  test('are for administrators, and end when the role of their caller is taken away', async () => {
    for (const path of ['stream', 'export', 'head'])
      expect((await edge.send('GET', `/api/ext/journal/${path}`, undefined, eve)).status).toBe(403);
    const file = join(edge.folder, 'roles.yaml');
    writeFileSync(file, 'admins: [ann]\nroles: [{ login: vera, folder: prod, role: viewer }]\n');
    await edge.reopen({}, ['--config', file]);
    const body = { subject: { user: 'eve' }, role: 'admin' };
    const { json } = await edge.send('POST', '/api/ext/roles', body, ann);
    const reader = await open(eve);
    await reader.next('ready');
    await edge.send('DELETE', `/api/ext/roles/${String(json['id'])}`, {}, ann);
    await reader.ended();
    // Not even the entry of the change.
    expect(reader.names()).toEqual(['ready']);
    expect((await open(eve)).status).toBe(403);
  });

  test('need Accept', async () => {
    const { status, json } = await edge.send('GET', '/api/ext/journal/stream', undefined, ann);
    expect([status, json.code]).toEqual([400, 'INVALID_INPUT']);
  });

  test('keep nothing for a client that does not read', async () => {
    append(2000, { message: 'x'.repeat(2000) });
    const socket: Socket = createConnection(Number(edge.base.split(':')[1]), '127.0.0.1');
    socket.pause();
    socket.write(
      `GET /api/ext/journal/stream HTTP/1.1\r\nHost: ${edge.base}\r\nAccept: text/event-stream\r\n` +
        'Tailscale-User-Login: ann\r\nLast-Event-ID: 0\r\n\r\n',
    );
    const since = jest.spyOn(edge.service.app.get(JournalFeed), 'since');
    const reader = await open();
    await reader.next('ready');
    append(1);
    await tag('more');
    await reader.next('entry', ({ action }) => action === 'add tag more');
    // 4 MB would be 20 reads; the kernel and one batch take some.
    expect(since.mock.calls.length).toBeLessThan(20);
    socket.destroy();
    await once(socket, 'close');
  });

  test('export all entries with a chain that holds', async () => {
    await tag('one');
    await edge.send('DELETE', '/api/vms/default/db', {}, eve);
    append(1200, { message: 'quotes "\\ \u2028 \u{1F600}' });
    const lines = await exported();
    const head = (await edge.send('GET', '/api/ext/journal/head', undefined, ann)).json;
    expect(verify(lines)).toMatchObject({ entries: lines.length - 1, unchained: 0, first: 1 });
    // The export itself is in the journal.
    expect(head['number']).toBe(lines.length);
    const rest = await exported(`?after=${lines.length - 1}`);
    expect(verify([...lines, ...rest])).toMatchObject({ entries: lines.length, head });
    expect(JSON.parse(rest[0] ?? '')).toMatchObject({ action: 'GET /api/ext/journal/export', caller: 'ann' });
    expect(verify(await exported('?after=999999'))).toMatchObject({ entries: 0 });
    expect((await edge.send('GET', '/api/ext/journal/export?after=-1', undefined, ann)).status).toBe(400);
    expect(await edge.send('HEAD', '/api/ext/journal/export', undefined, ann)).toMatchObject({ status: 200 });
  });

  test('break off an export from which entries were deleted, without its last line', async () => {
    append(1200);
    const journal = edge.service.app.get(FleetAuditLog);
    const pieces = new ExportJournal(journal).open(0)[Symbol.asyncIterator]();
    const first = await pieces.next();
    expect(String(first.value).split('\n')).toHaveLength(501);
    jest.spyOn(journal, 'deleted').mockReturnValue({ action: 900, request: 0 });
    await expect(pieces.next()).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  test('refuse more exports than a few at a time', async () => {
    append(1000);
    const exports = new ExportJournal(edge.service.app.get(FleetAuditLog));
    const open = Array.from({ length: MAX_EXPORTS }, () => exports.open(0)[Symbol.asyncIterator]());
    for (const one of open) await one.next();
    expect(() => exports.open(0)).toThrow('4 exports');
    await open[0]?.return?.();
    exports.open(0);
  });

  test('wake no stream after the service has ended', async () => {
    const feed = new JournalFeed(edge.service.app.get(FleetAuditLog), edge.service.app.get(Audit), {
      after: (_ms: number, work: () => void) => {
        work();
        return () => undefined;
      },
    } as never);
    let calls = 0;
    feed.subscribe(() => calls++);
    await tag('early');
    expect(calls).toBe(1);
    feed.beforeApplicationShutdown();
    await tag('late');
    expect(calls).toBe(1);
  });
});
