import { createServer, type Server } from 'node:http';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DenyListSettings } from '../config/deny.section.js';
import { CrowdsecLists } from './crowdsec-lists.js';

describe('CrowdsecLists', () => {
  let folder: string;
  let server: Server;
  let requests: number;
  let lists: CrowdsecLists;
  let logged: string[];
  let onChange: () => void;
  let duration: string;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-crowdsec-'));
    writeFileSync(join(folder, 'key'), 'secret\n');
    [requests, logged, onChange, duration] = [0, [], () => undefined, '1h'];
    server = createServer((request, response) => {
      requests++;
      if (request.headers['x-api-key'] !== 'secret') return void response.writeHead(403).end();
      const added = [{ duration, scope: 'Ip', type: 'ban', value: `192.0.2.${requests}` }];
      response.end(JSON.stringify({ new: added, deleted: null }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const log = (_facts: unknown, message: string) => void logged.push(message);
    lists = new CrowdsecLists({ log: { info: log, error: log, warn: log } as never, onChange: () => onChange() });
  });
  afterEach(async () => {
    lists.stop();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    rmSync(folder, { recursive: true });
  });

  const settings = (more: Partial<DenyListSettings> = {}): DenyListSettings => ({
    name: 'crowdsec',
    crowdsec: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    key_file: join(folder, 'key'),
    interval: '1h',
    shadow: false,
    ...more,
  });

  test('has the bans after the start, and follows the changes', async () => {
    const list = settings({ interval: '1ms' });
    const { promise: changed, resolve } = Promise.withResolvers<void>();
    await lists.configure([list]);
    expect(lists.entriesOf(list)[0]).toBe('192.0.2.1');
    onChange = resolve;
    await changed;
    expect(lists.entriesOf(list)).toContain('192.0.2.2');
  });

  test('goes on with a list that a reload has not changed, and drops the others', async () => {
    await lists.configure([settings()]);
    await lists.configure([settings({ shadow: true })]);
    expect([requests, lists.entriesOf(settings())]).toEqual([1, ['192.0.2.1']]);
    await lists.configure([]);
    expect(lists.entriesOf(settings())).toEqual([]);
  });

  test('ends bans while the local API is not available', async () => {
    const list = settings({ interval: '1ms' });
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    duration = '50ms';
    await lists.configure([list]);
    writeFileSync(join(folder, 'key'), 'old\n');
    onChange = () => {
      if (lists.entriesOf(list).length === 0) resolve();
    };
    await ended;
  });

  test('starts without the local API, and says so once', async () => {
    writeFileSync(join(folder, 'key'), 'old\n');
    const list = settings({ interval: '1ms' });
    const { promise: changed, resolve } = Promise.withResolvers<void>();
    onChange = resolve;
    await lists.configure([list]);
    expect(lists.entriesOf(list)).toEqual([]);
    while (requests < 4) await new Promise((resume) => setImmediate(resume));
    writeFileSync(join(folder, 'key'), 'secret\n');
    await changed;
    expect(logged).toEqual([
      'the list of CrowdSec is not available; its bans stay until they end',
      'the list of CrowdSec is available again',
    ]);
  });
});
