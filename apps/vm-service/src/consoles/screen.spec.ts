import 'reflect-metadata';
import { once } from 'node:events';
import { MemoryBackend } from '@headgate/testing';
import { DevScreen } from '../testing/dev/dev-screen.js';
import { Edge } from '../testing/edge.js';

const SCREEN = '/api/ext/vms/default/db/screen';

describe('a picture of a screen', () => {
  let edge: Edge;
  let screens: DevScreen[];

  beforeEach(async () => {
    screens = [];
    const openScreen = (): DevScreen => {
      screens.push(new DevScreen());
      return screens.at(-1) as DevScreen;
    };
    edge = await new Edge(new MemoryBackend('lab', { openScreen })).open();
  });
  afterEach(() => edge.close());

  const picture = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`http://${edge.base}${path}`, { headers });
  const widthOf = async (response: Response): Promise<number> =>
    Buffer.from(await response.arrayBuffer()).readUInt32BE(16);

  test('is a PNG with its time, taken once for several callers', async () => {
    const [first, second] = await Promise.all([picture(SCREEN), picture(SCREEN)]);
    expect(first.status).toBe(200);
    expect(first.headers.get('content-type')).toBe('image/png');
    expect(first.headers.get('cache-control')).toBe('private, no-cache');
    const takenAt = first.headers.get('svc-taken-at') ?? '';
    expect(Math.abs(Date.now() - Date.parse(takenAt))).toBeLessThan(60_000);
    expect(first.headers.get('last-modified')).toBe(new Date(takenAt).toUTCString());
    expect(second.headers.get('etag')).toBe(first.headers.get('etag'));
    expect(await widthOf(first)).toBe(640);
    expect(screens).toHaveLength(1);
    expect(screens[0]?.destroyed).toBe(true);
  });

  test('is 304 for a client that has it', async () => {
    const { headers } = await picture(SCREEN);
    const again = await picture(SCREEN, { 'if-none-match': headers.get('etag') ?? '' });
    expect([again.status, await again.text()]).toEqual([304, '']);
    expect(again.headers.get('svc-taken-at')).toBe(headers.get('svc-taken-at'));
  });

  test('has the requested width', async () => {
    expect(await widthOf(await picture(`${SCREEN}?width=200`))).toBe(200);
  });

  test.each([
    ['/api/ext/vms/default/web/screen', 409, 'WRONG_STATE'],
    ['/api/ext/vms/default/none/screen', 404, 'INSTANCE_NOT_FOUND'],
    ['/api/ext/vms/default/box/screen', 404, 'INSTANCE_NOT_FOUND'],
    ['/api/ext/vms/default/twin/screen', 409, 'AMBIGUOUS_INSTANCE'],
    [`${SCREEN}?width=63`, 400, 'INVALID_INPUT'],
    [`${SCREEN}?width=641`, 400, 'INVALID_INPUT'],
    [`${SCREEN}?width=wide`, 400, 'INVALID_INPUT'],
  ])('at %s is %i %s', async (path, status, code) => {
    expect(await edge.send('GET', path)).toMatchObject({ status, json: { code } });
    expect(screens).toEqual([]);
  });

  test('is 501 where the backend has no consoles', async () => {
    await edge.close();
    edge = await new Edge(new MemoryBackend('lab', { unavailable: { consoles: 'There are no screens here.' } })).open();
    expect(await edge.send('GET', SCREEN)).toMatchObject({
      status: 501,
      json: { error: 'There are no screens here.' },
    });
  });
});

describe('those who have a console open', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = await new Edge().open();
  });
  afterEach(() => edge.close());

  const watchers = async (name = 'db'): Promise<object[]> => {
    const { status, json } = await edge.send('GET', `/api/ext/vms/default/${name}/watchers?context=lab`);
    expect(status).toBe(200);
    return json['watchers'] as object[];
  };

  const until = async (count: number): Promise<void> => {
    while ((await watchers()).length > count) await new Promise((resolve) => setImmediate(resolve));
  };

  test('are listed with their console and their rights, until they close it', async () => {
    const vnc = edge.socket('/api/vnc/default/db');
    await once(vnc, 'message');
    const tty = edge.socket('/api/tty/default/db');
    await once(tty, 'message');
    const mine = { mayType: true, you: true, since: expect.stringMatching(/^\d{4}-.*Z$/) };
    expect(await watchers()).toEqual([
      expect.objectContaining({ kind: 'vnc', ...mine }),
      expect.objectContaining({ kind: 'serial', ...mine }),
    ]);
    expect(await watchers('web')).toEqual([]);
    vnc.close();
    await until(1);
    expect(await watchers()).toEqual([expect.objectContaining({ kind: 'serial' })]);
    tty.close();
    await until(0);
  });

  test('of a VM that does not exist are 404', async () => {
    expect((await edge.send('GET', '/api/ext/vms/default/none/watchers')).status).toBe(404);
  });
});
