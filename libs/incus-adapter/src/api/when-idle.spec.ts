import { Clock, DomainError } from '@headgate/domain-contracts';
import type { IncusApi } from './incus-api.js';
import { untilIdle, whenIdle } from './when-idle.js';

const WEB = { project: 'lab', name: 'web' };
const busy = (): DomainError => new DomainError('BUSY', 'The instance is busy.');

/** Time passes at once. */
class NoPauses extends Clock {
  override now(): number {
    return 0;
  }

  override after(_ms: number, callback: () => void): () => void {
    queueMicrotask(callback);
    return () => undefined;
  }
}

/** @param fails how the wait for an operation fails */
function serverWith(operations: readonly object[], fails?: DomainError) {
  const waited: string[] = [];
  const api: Pick<IncusApi, 'get' | 'wait' | 'clock'> = {
    clock: new NoPauses(),
    get: async <T>() => ({ running: operations }) as T,
    wait: async (id) => {
      waited.push(id);
      if (fails) throw fails;
      return {} as never;
    },
  };
  return { api: api as IncusApi, waited };
}

const operation = (id: string, path: string, kind = 'task'): object => ({
  id,
  class: kind,
  resources: { instances: [path] },
});

test('waits for the operations of this instance only, and repeats the request', async () => {
  const { api, waited } = serverWith([
    operation('one', '/1.0/instances/web?project=lab'),
    operation('other', '/1.0/instances/web-2'),
    operation('shell', '/1.0/instances/web', 'websocket'),
  ]);
  let attempts = 0;
  const result = await whenIdle(api, WEB, async () => {
    if (++attempts === 1) throw busy();
    return 'done';
  });
  expect([result, attempts, waited]).toEqual(['done', 2, ['one']]);
});

test('does not care how the operation ends', async () => {
  const { api } = serverWith([operation('one', '/1.0/instances/web')], new DomainError('BACKEND_FAILED', 'No.'));
  let attempts = 0;
  await whenIdle(api, WEB, async () => {
    if (++attempts === 1) throw busy();
  });
  expect(attempts).toBe(2);
});

test('gives up when the instance never becomes idle', async () => {
  let attempts = 0;
  const never = whenIdle(serverWith([]).api, WEB, async () => {
    attempts++;
    throw busy();
  });
  await expect(never).rejects.toMatchObject({ code: 'BUSY' });
  expect(attempts).toBe(6);
});

test('repeats no other failure, and no request to a server that is gone', async () => {
  const missing = whenIdle(serverWith([]).api, WEB, async () => {
    throw new DomainError('INSTANCE_NOT_FOUND', 'None.');
  });
  await expect(missing).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
  const { api } = serverWith([operation('one', '/1.0/instances/web')], new DomainError('BACKEND_UNREACHABLE', 'Gone.'));
  let attempts = 0;
  const gone = whenIdle(api, WEB, async () => {
    attempts++;
    throw busy();
  });
  await expect(gone).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
  expect(attempts).toBe(1);
});

test.each(['/1.0/storage-pools/default/volumes/custom/web-data?project=lab', '/1.0/storage_volumes/web-data'])(
  'waits for the operations on the volume %s',
  async (path) => {
    const ofVolume = (id: string, volume: string): object => ({
      id,
      class: 'task',
      resources: { storage_volumes: [volume] },
    });
    const { api, waited } = serverWith([ofVolume('one', path), ofVolume('other', '/1.0/storage_volumes/data')]);
    await untilIdle(api, 'lab', ['web', 'web-data']);
    expect(waited).toEqual(['one']);
  },
);
