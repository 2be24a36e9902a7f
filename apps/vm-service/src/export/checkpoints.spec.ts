import 'reflect-metadata';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { formatRef } from '@headgate/domain-contracts';
import type { MemoryBackups } from '@headgate/testing';
import { Edge, type Reply } from '../testing/edge.js';

const EXPORT = '/api/vms/default/db/export';
const CHECKPOINTS = '/api/ext/vms/default/db/checkpoints';

describe('exports with checkpoints', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = await new Edge().open();
  });
  afterEach(() => edge.close());

  const download = async (query: string): Promise<{ headers: IncomingMessage['headers']; body: Buffer }> => {
    const request = get(`http://${edge.base}${EXPORT}?${query}`, { headers: { host: 'localhost:8006' } });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(200);
    return { headers: response.headers, body: await buffer(response) };
  };
  const names = async (): Promise<string[]> =>
    ((await edge.send('GET', CHECKPOINTS)).json as unknown as { name: string }[]).map(({ name }) => name);
  const refused = async (answer: Promise<Reply>): Promise<[number, string]> => {
    const { status, json } = await answer;
    return [status, json.code];
  };

  test('save the disk of a running VM, then its changes, under names that form a chain', async () => {
    const full = await download('checkpoint=one');
    expect(full.headers).toMatchObject({
      'content-type': 'application/gzip',
      'content-disposition': 'attachment; filename="db-one.img.gz"',
      'svc-checkpoint': 'one',
    });
    expect(gunzipSync(full.body).toString('latin1', 1024, 1026)).toBe('db');
    const next = await download('since=one&checkpoint=two');
    expect(next.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment; filename="db-two.qcow2"',
      'svc-checkpoint': 'two',
      'svc-since': 'one',
    });
    expect(next.body.toString('latin1')).toContain('db-one.qcow2');
    const last = await download('since=two');
    expect(last.headers['content-disposition']).toBe('attachment; filename="db-since-two.qcow2"');
    expect(last.headers['svc-checkpoint']).toBeUndefined();
    expect(last.body.toString('latin1')).toContain('db-two.qcow2');
    const qcow2 = await download('checkpoint=three&format=qcow2');
    expect(qcow2.headers['content-disposition']).toBe('attachment; filename="db-three.qcow2"');
    expect(await names()).toEqual(['one', 'two', 'three']);
  });

  test('are refused with the reason', async () => {
    await download('checkpoint=one');
    for (const [query, status, code] of [
      ['checkpoint=one', 409, 'ALREADY_EXISTS'],
      ['since=none', 404, 'CHECKPOINT_NOT_FOUND'],
      ['since=one&checkpoint=one', 400, 'INVALID_INPUT'],
      ['since=one&format=raw', 400, 'INVALID_INPUT'],
      ['checkpoint=Not%20A%20Name', 400, 'INVALID_NAME'],
      ['checkpoint=', 400, 'INVALID_NAME'],
      ['since=..%2fone', 400, 'INVALID_NAME'],
    ] as const) {
      expect([query, ...(await refused(edge.send('GET', `${EXPORT}?${query}`)))]).toEqual([query, status, code]);
      expect((await edge.send('HEAD', `${EXPORT}?${query}`)).status).toBe(status);
    }
    const stopped = edge.send('GET', '/api/vms/default/web/export?checkpoint=one');
    expect(await refused(stopped)).toEqual([409, 'WRONG_STATE']);
    expect(await refused(edge.send('GET', '/api/vms/default/none/export?checkpoint=one'))).toEqual([
      404,
      'INSTANCE_NOT_FOUND',
    ]);
    expect(await names()).toEqual(['one']);
  });

  test('report a checkpoint whose record is lost', async () => {
    await download('checkpoint=one');
    const ref = formatRef({ kind: 'vm', context: 'lab', namespace: 'default', name: 'db' });
    (edge.lab.require('backups') as MemoryBackups).inconsistent.add(`${ref} one`);
    expect(await refused(edge.send('GET', `${EXPORT}?since=one`))).toEqual([409, 'CHECKPOINT_INCONSISTENT']);
    expect((await edge.send('GET', CHECKPOINTS)).json).toMatchObject([
      { name: 'one', ready: false, reason: expect.any(String) },
    ]);
  });

  test('create nothing for HEAD, and nothing for a link of another site', async () => {
    expect((await edge.send('HEAD', `${EXPORT}?checkpoint=one`)).status).toBe(200);
    const foreign = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
    expect(await refused(edge.send('GET', `${EXPORT}?checkpoint=one`, undefined, foreign))).toEqual([
      403,
      'FOREIGN_ORIGIN',
    ]);
    expect(await names()).toEqual([]);
  });

  test('are for administrators, and audited; everyone may list checkpoints', async () => {
    await edge.reopen({ SVC_ADMINS: 'ann' });
    const [ann, eve] = [{ 'tailscale-user-login': 'ann' }, { 'tailscale-user-login': 'eve' }];
    for (const query of ['checkpoint=one', 'since=one'])
      expect(await refused(edge.send('GET', `${EXPORT}?${query}`, undefined, eve))).toEqual([403, 'NOT_PERMITTED']);
    expect((await edge.send('GET', `${EXPORT}?checkpoint=one`, undefined, ann)).status).toBe(200);
    expect((await edge.send('GET', CHECKPOINTS, undefined, eve)).json).toMatchObject([{ name: 'one' }]);
    expect(await refused(edge.send('DELETE', `${CHECKPOINTS}/one`, undefined, eve))).toEqual([403, 'NOT_PERMITTED']);
    const { body } = await edge.send('GET', '/api/vms/default/db/events', undefined, ann);
    expect(body).toContain('export disk as raw.gz and create checkpoint one');
  });

  test('delete a checkpoint, with a dry run', async () => {
    await download('checkpoint=one');
    const plan = await edge.send('DELETE', `${CHECKPOINTS}/one?dryRun=true`);
    expect([plan.status, plan.json]).toMatchObject([200, { steps: [{ name: 'delete' }] }]);
    expect(await names()).toEqual(['one']);
    const deleted = await edge.send('DELETE', `${CHECKPOINTS}/one`);
    expect([deleted.status, deleted.json]).toEqual([200, { status: 'deleted' }]);
    expect(await names()).toEqual([]);
    expect(await refused(edge.send('DELETE', `${CHECKPOINTS}/one`))).toEqual([404, 'CHECKPOINT_NOT_FOUND']);
  });

  test('keep no checkpoint when the client leaves', async () => {
    const request = get(`http://${edge.base}${EXPORT}?checkpoint=one`, { headers: { host: 'localhost:8006' } });
    request.on('error', () => undefined);
    const opened = new Promise<void>((resolve) => {
      const backups = edge.lab.require('backups') as MemoryBackups;
      const open = backups.open.bind(backups);
      backups.open = async (...args) => {
        request.destroy();
        const signal = args[2];
        if (!signal.aborted) await once(signal, 'abort');
        resolve();
        return open(...args);
      };
    });
    await opened;
    expect(await names()).toEqual([]);
  });

  test('are 501 with the reason where the backend has no checkpoints', async () => {
    const lab = edge.lab as unknown as { unavailable: Record<string, string> };
    lab.unavailable = { backups: 'This backend has no checkpoints.' };
    for (const path of [`${EXPORT}?checkpoint=one`, CHECKPOINTS]) {
      const { status, json } = await edge.send('GET', path);
      expect([status, json.error]).toEqual([501, 'This backend has no checkpoints.']);
    }
  });
});
