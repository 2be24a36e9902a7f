import 'reflect-metadata';
import { MAX_QUERY_CHARS as WIRE_MAX_QUERY_CHARS } from '@headgate/api-contracts';
import { MAX_QUERY_CHARS } from '@headgate/instance-query';
import { Edge, unreachable } from '../testing/edge.js';

describe('queries of the API', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = await new Edge().open();
  });

  afterEach(() => edge.close());

  const send = (path: string, q: string) => edge.send('GET', `${path}?q=${encodeURIComponent(q)}`);
  const refs = async (q: string) =>
    ((await send('/api/vms', q)).json as unknown as { ref: string }[]).map(({ ref }) => ref.replace('vm/', ''));

  test('filter a list by fields, comparisons, flags and words', async () => {
    expect(await refs('status:running')).toEqual(['lab/default/db']);
    expect(await refs('not:status:running ctx:lab')).toEqual(['lab/default/twin', 'lab/default/web']);
    expect(await refs('name:t* -context:lab')).toEqual(['other/default/twin']);
    expect(await refs('mem>=4Gi cpu<3 is:running 192.0.2.5')).toEqual(['lab/default/db']);
    expect(await refs('192.0.2.5:22')).toEqual([]);
  });

  test('count by status, context, folder, tag and node', async () => {
    await edge.send('POST', '/api/vms/default/db/tags', { tag: 'prod', on: true });
    const { status, json } = await send('/api/ext/facets', 'status:running');
    expect([status, json]).toEqual([
      200,
      {
        matched: 1,
        status: [
          { value: 'Stopped', count: 3 },
          { value: 'Running', count: 1 },
        ],
        context: [{ value: 'lab', count: 1 }],
        folder: [],
        tag: [{ value: 'prod', count: 1 }],
        node: [{ value: 'memory-1', count: 1 }],
      },
    ]);
    expect((await edge.send('GET', '/api/ext/facets?context=other')).json).toMatchObject({ matched: 1 });
    expect((await edge.send('GET', '/api/ext/facets?kind=ct')).json).toMatchObject({ status: [{ value: 'Running' }] });
  });

  test('count the entries of a lost context as partial, and refuse when all are lost', async () => {
    edge.lab.engine.disconnect(unreachable);
    const partial = await send('/api/ext/facets', 'is:stale');
    expect([partial.json['matched'], partial.headers['svc-partial']]).toEqual([3, 'true']);
    edge.other.engine.disconnect(unreachable);
    expect((await send('/api/ext/facets', '')).json).toMatchObject({ code: 'BACKEND_UNREACHABLE' });
  });

  test.each([
    ['web staus:running', 'q: Character 5: There is no field "staus"; the fields are is, not, name,'],
    ['__proto__:x', 'q: Character 1: There is no field "__proto__"'],
    ['constructor:x', 'q: Character 1: There is no field "constructor"'],
    ['mem>lots', 'q: Character 5: "lots" can\'t be compared with mem'],
    ['a '.repeat(1000), 'q: Character 401: The query has too many terms; use at most 200.'],
    ['a'.repeat(3000), '2048'],
  ])('refuse %s with 400 and the position', async (q, message) => {
    for (const path of ['/api/vms', '/api/cts', '/api/ext/facets']) {
      const { status, json } = await send(path, q);
      expect([path, status, json.code]).toEqual([path, 400, 'INVALID_INPUT']);
      expect(json.error).toContain(message);
    }
  });

  test('choose the members of a bulk task, and refuse a mistake before it starts', async () => {
    const bulk = (q: string) => edge.send('POST', '/api/ext/bulk?dryRun=true', { action: 'start', query: { q } });
    expect((await bulk('status:stopped name:web')).status).toBe(200);
    expect((await bulk('staus:stopped')).json).toMatchObject({ code: 'INVALID_INPUT' });
    expect((await bulk('  ')).json).toMatchObject({ code: 'INVALID_INPUT' });
  });

  test('may be as long in requests as in the library', () => expect(WIRE_MAX_QUERY_CHARS).toBe(MAX_QUERY_CHARS));
});
