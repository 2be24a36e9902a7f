import 'reflect-metadata';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { MemoryBackend } from '@headgate/testing';
import { Edge } from '../testing/edge.js';
import { MAX_READINGS_PER_CALLER } from './container-files.controller.js';

const FILES = '/api/ext/cts/default/box/files';
const ANN = { 'tailscale-user-login': 'ann' };
const EVE = { 'tailscale-user-login': 'eve' };

describe('the files of a container', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = new Edge(new MemoryBackend('lab'));
    const file = join(edge.folder, 'headgate.yaml');
    writeFileSync(file, 'admins: [ann]\n');
    await edge.open({}, ['--config', file]);
    edge.lab.files.files = new Map([
      ['/etc/hosts', Buffer.from('127.0.0.1 localhost\n')],
      ['/etc/bad%FF"name', Buffer.from('odd')],
      ['/index.html', Buffer.from('<script>alert(1)</script>')],
    ]);
    edge.lab.files.links = new Map([['/link', '/etc']]);
  });
  afterEach(() => edge.close());

  const read = (query: string, headers: Record<string, string> = ANN) =>
    edge.send('GET', `${FILES}/${query}`, undefined, headers);
  const download = async (path: string, headers: Record<string, string> = ANN): Promise<IncomingMessage> => {
    const request = get(`http://${edge.base}${FILES}/content?path=${path}`, { headers });
    request.on('error', () => undefined);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.on('error', () => undefined);
    return response;
  };
  /** Each download stays open. */
  const holdContent = (): PassThrough[] => {
    const held: PassThrough[] = [];
    edge.lab.files.contentOf = (content) => {
      const stream = new PassThrough();
      stream.write(content);
      held.push(stream);
      return stream;
    };
    return held;
  };
  const untilOpen = async (count: number): Promise<void> => {
    while (edge.lab.files.openCount !== count) await new Promise(setImmediate);
  };
  const closed = (response: IncomingMessage): Promise<void> => {
    response.resume();
    return new Promise((resolve) => void response.once('close', resolve));
  };

  test('are listed by folder, in parts, through links', async () => {
    expect((await read('entries')).json).toMatchObject({
      total: 3,
      isCut: false,
      entries: [
        { name: 'etc', kind: 'folder' },
        { name: 'index.html', kind: 'file', sizeBytes: 25 },
        { name: 'link', kind: 'link', target: '/etc', targetKind: 'folder' },
      ],
    });
    const part = await read('entries?path=/link/&skip=1&limit=1');
    expect(part.json).toMatchObject({ total: 2, entries: [{ name: 'hosts', sizeBytes: 20 }] });
    edge.lab.files.maxEntries = 1;
    expect((await read('entries')).json).toMatchObject({ total: 1, isCut: true });
  });

  test('are sent as attachments that no browser shows, and each download is in the journal', async () => {
    const page = await read('content?path=/index.html');
    expect([page.status, page.body]).toEqual([200, '<script>alert(1)</script>']);
    expect(page.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="index.html"; filename*=UTF-8''index.html`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining('sandbox'),
      'cache-control': 'private, no-store',
    });
    const odd = await read(`content?path=${encodeURIComponent('//etc/bad%FF"name')}`);
    expect([odd.status, odd.body]).toEqual([200, 'odd']);
    expect(odd.headers['content-disposition']).toContain('filename="bad_FF_name"');
    expect((await read('content?path=/none')).json.code).toBe('FILE_NOT_FOUND');
    const journal = await edge.send('GET', '/api/ext/journal?limit=10', undefined, ANN);
    const entries = JSON.parse(journal.body) as { action: string; ref: string; outcome: string; message: string }[];
    expect(entries.filter(({ action }) => action === 'download file')).toMatchObject([
      { ref: 'ct/lab/default/box', outcome: 'error' },
      { ref: 'ct/lab/default/box', outcome: 'ok', message: '/etc/bad%FF"name' },
      { ref: 'ct/lab/default/box', outcome: 'ok', message: '/index.html' },
    ]);
  });

  test('are refused to a reader, for odd paths, and for a container that is stopped', async () => {
    for (const query of ['entries', 'content?path=/etc/hosts']) {
      const refused = await read(query, EVE);
      expect([refused.status, refused.json.code]).toEqual([403, 'NOT_PERMITTED']);
    }
    for (const query of ['entries?path=/a/../b', 'content?path=/a%2500', 'content?path=/100%25', 'entries?limit=1001'])
      expect([query, (await read(query)).status]).toEqual([query, 400]);
    expect((await read('content?path=/etc')).json.code).toBe('WRONG_STATE');
    expect((await read('entries?path=/index.html')).json.code).toBe('WRONG_STATE');
    await edge.send('POST', '/api/cts/default/box/stop', undefined, ANN);
    expect((await read('entries')).json.code).toBe('WRONG_STATE');
    expect((await read('content?path=/etc/hosts')).json.code).toBe('WRONG_STATE');
  });

  test('answers HEAD without reading', async () => {
    const held = holdContent();
    const head = await edge.send('HEAD', `${FILES}/content?path=/etc/hosts`, undefined, ANN);
    expect([head.status, head.body, held.length]).toEqual([200, '', 0]);
  });

  test('break off with the container, and end with their client', async () => {
    const held = holdContent();
    const broken = await download('/etc/hosts');
    held[0]?.destroy(new Error('The container has stopped.'));
    await closed(broken);
    expect(broken.complete).toBe(false);
    const left = await download('/etc/hosts');
    left.destroy();
    await untilOpen(0);
    const whole = await download('/etc/hosts');
    held[2]?.end();
    await closed(whole);
    expect(whole.complete).toBe(true);
  });

  test('are read by a limited number of requests, whose places become free again', async () => {
    holdContent();
    const open: IncomingMessage[] = [];
    for (let count = 0; count < MAX_READINGS_PER_CALLER; count++) open.push(await download('/etc/hosts'));
    for (const query of ['content?path=/etc/hosts', 'entries']) {
      const refused = await read(query);
      expect([refused.status, refused.json.code]).toEqual([429, 'TOO_MANY_STREAMS']);
    }
    for (const one of open) one.destroy();
    await untilOpen(0);
    expect((await read('entries')).status).toBe(200);
    for (let count = 0; count <= MAX_READINGS_PER_CALLER; count++)
      expect((await read('content?path=/none')).json.code).toBe('FILE_NOT_FOUND');
  });

  test('are no longer sent when the API token of the caller is revoked, or the service ends', async () => {
    holdContent();
    const body = { name: 'files', actions: ['console'], scope: {} };
    const { json } = await edge.send('POST', '/api/ext/tokens', body, ANN);
    const token = await download('/etc/hosts', { authorization: `Bearer ${String(json['token'])}` });
    expect(token.statusCode).toBe(200);
    await edge.send('DELETE', `/api/ext/tokens/${String(json['id'])}`, undefined, ANN);
    await closed(token);
    expect(token.complete).toBe(false);
    const last = await download('/etc/hosts');
    const end = closed(last);
    await edge.reopen();
    await end;
    expect(last.complete).toBe(false);
  });
});
