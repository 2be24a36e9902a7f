import type { EventObject } from '../api/incus-objects.js';
import { EventHistory } from './event-history.js';

const WEB = { project: 'default', name: 'web' };

describe('EventHistory', () => {
  let history: EventHistory;
  let seconds = 0;
  beforeEach(() => {
    history = new EventHistory();
    seconds = 0;
  });
  const record = (action: string, name = 'web', context?: object): void => {
    const timestamp = new Date(++seconds * 1000).toISOString();
    history.record({ type: 'lifecycle', timestamp, metadata: { action, source: `/1.0/instances/${name}`, context } });
  };

  test('has the events of one instance, newest first, never those of a name that begins alike', () => {
    record('instance-created');
    record('instance-started', 'web-2');
    record('instance-snapshot-created');
    expect(history.recent(WEB, 50)).toEqual([
      {
        time: '1970-01-01T00:00:03.000Z',
        type: 'Normal',
        reason: 'SnapshotCreated',
        object: 'Instance/web',
        message: 'The server reports instance-snapshot-created.',
      },
      expect.objectContaining({ reason: 'Created' }),
    ]);
    expect(history.recent(WEB, 1)).toHaveLength(1);
  });

  test('has the reason for which an operation failed as a warning', () => {
    const metadata = {
      status_code: 400,
      description: 'Starting instance',
      err: 'no',
      resources: { instances: ['/1.0/instances/web'] },
    };
    history.record({ type: 'operation', timestamp: '2026-11-28T00:00:00Z', metadata });
    history.record({
      type: 'operation',
      timestamp: '2026-11-28T00:00:00Z',
      metadata: { ...metadata, status_code: 200 },
    });
    expect(history.recent(WEB, 50)).toMatchObject([{ type: 'Warning', message: 'Starting instance: no' }]);
  });

  test('is empty for a new instance with the name of a deleted one, and follows a new name', () => {
    record('instance-started');
    record('instance-renamed', 'new', { old_name: 'web' });
    expect(history.recent(WEB, 50)).toEqual([]);
    expect(history.recent({ ...WEB, name: 'new' }, 50).map(({ object }) => object)).toEqual([
      'Instance/new',
      'Instance/new',
    ]);
    record('instance-deleted', 'new');
    expect(history.recent({ ...WEB, name: 'new' }, 50)).toEqual([]);
  });

  test('keeps 100 events of an instance, and ignores those of other objects', () => {
    for (let count = 0; count < 1000; count++) record('instance-updated');
    expect(history.recent(WEB, 10_000)).toHaveLength(100);
    const other: EventObject = {
      type: 'lifecycle',
      timestamp: '',
      metadata: { action: 'image-created', source: '/1.0/images/a' },
    };
    expect(() => history.record(other)).not.toThrow();
  });
});
