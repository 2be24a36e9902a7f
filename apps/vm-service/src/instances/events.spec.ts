import 'reflect-metadata';
import { unreachable, Edge } from '../testing/edge.js';

interface Event {
  time: string;
  type: string;
  reason: string;
  object: string;
  message: string;
  source: string;
  caller?: string;
}

describe('the events of a VM', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = await new Edge().open();
  });

  afterEach(() => edge.close());

  const events = async (name: string): Promise<Event[]> =>
    (await edge.send('GET', `/api/vms/default/${name}/events`)).json as unknown as Event[];

  test('are those of its backend and the actions of this service, with their outcome and caller', async () => {
    await edge.reopen({ SVC_ADMINS: 'ann' });
    const ann = { 'tailscale-user-login': 'ann' };
    await edge.send('POST', '/api/vms/default/web/start', undefined, ann);
    await edge.send('POST', '/api/vms/default/web/pause', undefined, ann);
    await edge.send('POST', '/api/vms/default/web/pause', undefined, { 'tailscale-user-login': 'eve' });
    const found = await events('web');
    expect(found.filter(({ source }) => source === 'service')).toEqual([
      expect.objectContaining({ reason: 'pause', type: 'Normal', caller: 'ann', object: 'vm/lab/default/web' }),
      expect.objectContaining({ reason: 'start', type: 'Normal', caller: 'ann' }),
    ]);
    expect(found.filter(({ source }) => source === 'cluster').map(({ reason }) => reason)).toEqual(
      expect.arrayContaining(['Paused', 'Running']),
    );
  });

  test('are never those of another VM, also when its name begins alike', async () => {
    await edge.send('POST', '/api/vms', { name: 'web-2', namespace: 'default', image: 'tiny', start: true });
    await edge.send('POST', '/api/vms/default/web-2/stop?force=true');
    await edge.send('POST', '/api/vms/default/web/start');
    for (const { object, message } of await events('web')) expect(`${object} ${message}`).not.toContain('web-2');
    expect((await events('web-2')).map(({ reason }) => reason)).toContain('stop by force');
  });

  test('are the last 50, the newest first', async () => {
    for (let index = 0; index < 30; index++) {
      await edge.send('POST', '/api/vms/default/db/tags', { tag: `t${index}`, on: true });
      await edge.send('POST', '/api/vms/default/db/tags', { tag: `t${index}`, on: false });
    }
    const found = await events('db');
    expect(found).toHaveLength(50);
    expect(found[0]?.reason).toBe('remove tag t29');
    const times = found.map(({ time }) => Date.parse(time));
    expect(times).toEqual([...times].sort((a, b) => b - a));
  });

  test('need a VM that exists, and a context that answers', async () => {
    expect((await edge.send('GET', '/api/vms/default/none/events')).status).toBe(404);
    expect((await edge.send('GET', '/api/vms/default/twin/events')).status).toBe(409);
    edge.lab.engine.disconnect(unreachable);
    expect((await edge.send('GET', '/api/vms/default/web/events')).status).toBe(503);
  });
});
