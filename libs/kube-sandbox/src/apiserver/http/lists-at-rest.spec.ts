import { KubeSandbox } from '../../kube-sandbox.js';
import type { KubeObject } from '../kube-object.js';

const COUNT = 120;
const PATH = '/api/v1/namespaces/lab/configmaps';

interface Page {
  items: KubeObject[];
  metadata: { continue?: string; remainingItemCount?: number; resourceVersion: string };
}

describe('lists of objects at rest', () => {
  let sandbox: KubeSandbox;
  /** The turn of the event loop in which each object was built. */
  let built: Map<string, number>;
  let turn = 0;
  let counting: boolean;

  beforeEach(async () => {
    sandbox = await KubeSandbox.listen({ namespaces: ['lab'] });
    built = new Map();
    sandbox.store.loadAtRest(
      Array.from({ length: COUNT }, (_none, index) => {
        const name = `map-${String(index).padStart(3, '0')}`;
        return {
          members: [{ resource: 'configmaps', namespace: 'lab', name, uid: `uid-${index}` }],
          build: () => {
            built.set(name, turn);
            const labels = { parity: index % 2 === 0 ? 'even' : 'odd' };
            return [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels } }];
          },
        };
      }),
    );
    counting = true;
    const count = (): void => {
      turn++;
      if (counting) setImmediate(count);
    };
    count();
  });

  afterEach(async () => {
    counting = false;
    await sandbox.close();
  });

  const list = async (query = ''): Promise<Page> =>
    (await (await fetch(`${sandbox.url}${PATH}${query}`)).json()) as Page;
  const mostInOneTurn = (): number =>
    Math.max(...[...built.values()].map((each) => [...built.values()].filter((other) => other === each).length));

  test('a list builds them in portions, so that other requests are served in between', async () => {
    const { items } = await list();
    expect(items.map(({ metadata }) => metadata.uid)).toEqual(Array.from({ length: COUNT }, (_none, n) => `uid-${n}`));
    expect(mostInOneTurn()).toBeLessThanOrEqual(20);
  });

  test('a watch with initial events does too, and then emits changes', async () => {
    const response = await fetch(`${sandbox.url}${PATH}?watch=true`);
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    const lines = async (wanted: number): Promise<string[]> => {
      while (text.split('\n').length <= wanted) text += (await reader.read()).value ?? '';
      return text.split('\n').slice(0, wanted);
    };
    expect((await lines(COUNT)).every((line) => line.startsWith('{"type":"ADDED"'))).toBe(true);
    expect(mostInOneTurn()).toBeLessThanOrEqual(20);
    sandbox.store.delete('configmaps', { namespace: 'lab', name: 'map-007' });
    expect((await lines(COUNT + 1)).at(-1)).toMatch(/^\{"type":"DELETED".*"map-007"/);
    await reader.cancel();
  });

  test('pages build only their own, and count the rest', async () => {
    const first = await list('?limit=10');
    expect(built.size).toBe(11);
    expect(first.metadata.remainingItemCount).toBe(COUNT - 10);
    const second = await list(`?limit=10&continue=${encodeURIComponent(first.metadata.continue!)}`);
    expect(built.size).toBe(21);
    expect(second.items[0]!.metadata.name).toBe('map-010');
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  });

  test('a page of a selection has as many objects as it may', async () => {
    const { items, metadata } = await list('?limit=10&labelSelector=parity%3Dodd');
    expect(items.map(({ metadata: { name } }) => name).slice(0, 2)).toEqual(['map-001', 'map-003']);
    expect(items).toHaveLength(10);
    expect(metadata).not.toHaveProperty('remainingItemCount');
    const rest = await list(`?labelSelector=parity%3Dodd&continue=${encodeURIComponent(metadata.continue!)}`);
    expect(rest.items).toHaveLength(COUNT / 2 - 10);
  });

  test('a page stays at the revision of the first, although objects change in between', async () => {
    const first = await list('?limit=10');
    sandbox.store.delete('configmaps', { namespace: 'lab', name: 'map-050' });
    const rest = await list(`?continue=${encodeURIComponent(first.metadata.continue!)}`);
    expect(rest.items).toHaveLength(COUNT - 10);
    expect(rest.items.map(({ metadata }) => metadata.name)).toContain('map-050');
  });
});
