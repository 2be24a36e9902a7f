import { once } from 'node:events';
import { WebSocket } from 'ws';
import { KubeSandbox } from '../../kube-sandbox.js';
import { ApiClient } from '../../testing/api-client.js';
import { machine, machines, MACHINES, MACHINES_PATH } from '../../testing/machine.js';
import { conflict, notFound } from '../api-error.js';
import type { SubresourceRequest } from '../subresources.js';

const START = { group: 'subresources.lab.dev', resource: 'machines', subresource: 'start' };
const SUB = '/apis/subresources.lab.dev/v1/namespaces/lab/machines';

describe('subresources', () => {
  let sandbox: KubeSandbox;
  let api: ApiClient;

  beforeEach(async () => {
    sandbox = await KubeSandbox.listen({
      namespaces: ['lab'],
      extensions: [
        {
          install: ({ registry, subresources, store }) => {
            registry.register(machines);
            store.create(MACHINES, machine('a'));
            subresources.serveGroup('subresources.lab.dev', ['v1']);
            subresources.handle(START, ['PUT'], ({ namespace, name, body }) => {
              if (!store.get(MACHINES, { namespace, name }))
                throw notFound({ group: 'lab.dev', resource: 'machine', name });
              const { paused } = (body ?? {}) as { paused?: boolean };
              if (paused) throw conflict({ group: 'lab.dev', resource: 'machine', name }, 'it cannot start paused');
              return { code: 202 };
            });
          },
        },
      ],
    });
    api = new ApiClient(sandbox);
  });

  afterEach(() => sandbox.close());

  test('are served by their handlers, with errors as a Status', async () => {
    expect(await api.put(`${SUB}/a/start`, {})).toMatchObject({ code: 202, text: '' });
    expect((await api.put(`${SUB}/z/start`, {})).body).toMatchObject({
      code: 404,
      message: 'machine.lab.dev "z" not found',
    });
    expect((await api.put(`${SUB}/a/start`, { paused: true })).body).toMatchObject({
      code: 409,
      message: 'Operation cannot be fulfilled on machine.lab.dev "a": it cannot start paused',
    });
    expect((await api.get(`${SUB}/a/start`)).code).toBe(405);
    expect((await api.put(`${SUB}/a/spin`, {})).text).toBe('404 page not found\n');
  });

  test('are listed in discovery even when their group has no resources', async () => {
    const { body } = await api.get<{ resources: object[] }>('/apis/subresources.lab.dev/v1');
    expect(body.resources).toMatchObject([{ name: 'machines/start', namespaced: true, verbs: [] }]);
  });

  test('match the longest registered path and pass on the rest', async () => {
    const asked: Pick<SubresourceRequest, 'subresource' | 'rest'>[] = [];
    for (const subresource of ['forward', 'forward/all']) {
      sandbox.subresources.handle({ ...START, subresource }, ['GET'], ({ subresource: found, rest }) => {
        asked.push({ subresource: found, rest });
        return { code: 200, body: 'fine' };
      });
    }
    await api.get(`${SUB}/a/forward/80/tcp`);
    await api.get(`${SUB}/a/forward/all/x`);
    expect(asked).toEqual([
      { subresource: 'forward', rest: ['80', 'tcp'] },
      { subresource: 'forward/all', rest: ['x'] },
    ]);
  });

  test('can stream a response until the client disconnects', async () => {
    const gone = new Promise<void>((resolve) => {
      sandbox.subresources.handle({ ...START, subresource: 'log' }, ['GET'], ({ stream }) => {
        stream.start(200);
        stream.write('line\n');
        stream.signal.addEventListener('abort', () => resolve());
        return undefined;
      });
    });
    const response = await fetch(`${sandbox.url}${SUB}/a/log`);
    const reader = response.body!.getReader();
    expect(Buffer.from((await reader.read()).value!).toString()).toBe('line\n');
    await reader.cancel();
    await gone;
  });

  describe('over WebSocket', () => {
    const open = (path: string, protocols: string[]) =>
      new WebSocket(`${sandbox.url.replace('http', 'ws')}${path}`, protocols);
    const refusal = async (socket: WebSocket): Promise<{ code: number; body: string }> => {
      const [, response] = (await once(socket, 'unexpected-response')) as [
        unknown,
        NodeJS.ReadableStream & { statusCode: number },
      ];
      let body = '';
      for await (const chunk of response) body += String(chunk);
      return { code: response.statusCode, body };
    };

    beforeEach(() => {
      sandbox.subresources.connect(
        { ...START, subresource: 'console' },
        {
          protocols: ['plain.lab.dev'],
          check: ({ name }) => {
            if (name !== 'a') throw notFound({ group: 'lab.dev', resource: 'machine', name });
          },
          connect: (socket, { protocol, name }) => {
            socket.send(Buffer.from(`${name}:${protocol}`));
            socket.on('message', (data) => socket.send(data));
          },
        },
      );
    });

    test('negotiate a common protocol', async () => {
      const socket = open(`${SUB}/a/console`, ['other', 'plain.lab.dev']);
      const [greeting] = (await once(socket, 'message')) as [Buffer];
      expect([greeting.toString(), socket.protocol]).toEqual(['a:plain.lab.dev', 'plain.lab.dev']);
      socket.send(Buffer.from('echo'));
      const [echo] = (await once(socket, 'message')) as [Buffer];
      expect(echo.toString()).toBe('echo');
      socket.terminate();
    });

    test('continue without a protocol when none is offered', async () => {
      const socket = open(`${SUB}/a/console`, []);
      const [greeting] = (await once(socket, 'message')) as [Buffer];
      expect(greeting.toString()).toBe('a:');
      socket.terminate();
    });

    test('refuse before the upgrade with an ordinary response', async () => {
      const { code, body } = await refusal(open(`${SUB}/z/console`, ['plain.lab.dev']));
      expect([code, (JSON.parse(body) as { message: string }).message]).toEqual([404, 'machine.lab.dev "z" not found']);
      expect(await refusal(open(`${MACHINES_PATH}/a/nothing`, []))).toEqual({
        code: 404,
        body: '404 page not found\n',
      });
    });

    test('are closed when the server stops', async () => {
      const socket = open(`${SUB}/a/console`, []);
      await once(socket, 'message');
      const closed = once(socket, 'close');
      await sandbox.faults.serverDown();
      expect((await closed)[0]).toBe(1006);
    });
  });
});
