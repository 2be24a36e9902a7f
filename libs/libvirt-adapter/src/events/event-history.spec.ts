import { LifecycleEvent, type DomainEventMessage } from '@headgate/libvirt-rpc';
import { describeLine, describeMessage } from '../connection/describe-event.js';
import { EventHistory } from './event-history.js';

const domain = { name: 'web', uuid: 'uuid-1', id: 1 };
const message = (fields: object): DomainEventMessage =>
  ({ callbackId: 1, domain, ...fields }) as unknown as DomainEventMessage;

describe('the words of an event', () => {
  test('are the same over RPC and through virsh', () => {
    const { started, stopped, shutdown, suspended, crashed } = LifecycleEvent;
    for (const [event, detail, line] of [
      [started, 0, 'Started Booted'],
      [stopped, 1, 'Stopped Destroyed'],
      [stopped, 2, 'Stopped Crashed'],
      [stopped, 5, 'Stopped Failed'],
      [shutdown, 2, 'Shutdown Finished after host request'],
      [suspended, 2, 'Suspended IOError'],
      [crashed, 0, 'Crashed Panicked'],
    ] as const) {
      expect(describeMessage(message({ name: 'lifecycle', event, detail }))).toEqual(describeLine('lifecycle', line));
    }
    expect(describeMessage(message({ name: 'agent-lifecycle', state: 1, reason: 0 }))).toEqual(
      describeLine('agent-lifecycle', "state: 'connected' reason: 'channel event'"),
    );
  });

  test('survive numbers that are newer than this client', () => {
    expect(describeMessage(message({ name: 'lifecycle', event: 99, detail: 99 }))).toEqual({});
  });
});

describe('the journal of events', () => {
  let journal: EventHistory;
  let seconds = 0;
  beforeEach(() => {
    seconds = 0;
    journal = new EventHistory(() => new Date(++seconds * 1000).toISOString());
  });

  const record = (name: string, action: string, detail: string): void =>
    journal.record({ kind: 'lifecycle', domain: name, action, detail, isStart: action === 'Started' });

  test('has the events of one domain, newest first, never those of a name that begins alike', () => {
    record('web', 'Started', 'Booted');
    record('web-2', 'Started', 'Booted');
    record('web', 'Stopped', 'Crashed');
    expect(journal.recent('web', 50)).toEqual([
      {
        time: '1970-01-01T00:00:03.000Z',
        type: 'Warning',
        reason: 'Stopped',
        object: 'Domain/web',
        message: 'libvirt reports Stopped: Crashed.',
      },
      expect.objectContaining({ type: 'Normal', reason: 'Started' }),
    ]);
    expect(journal.recent('web', 1)).toHaveLength(1);
    expect(journal.recent('we', 50)).toEqual([]);
  });

  test('is empty for a new domain with the name of a removed one', () => {
    record('web', 'Started', 'Booted');
    record('web', 'Undefined', 'Removed');
    expect(journal.recent('web', 50)).toEqual([]);
  });

  test('keeps 100 events of a domain', () => {
    for (let count = 0; count < 1000; count++) record('web', 'Resumed', 'Unpaused');
    expect(journal.recent('web', 10_000)).toHaveLength(100);
  });

  test('reports a crash, a watchdog and an I/O error as warnings', () => {
    for (const kind of ['watchdog', 'io-error-reason']) journal.record({ kind, domain: 'web', isStart: false });
    record('web', 'Crashed', 'Panicked');
    expect(journal.recent('web', 50).map(({ type }) => type)).toEqual(['Warning', 'Warning', 'Warning']);
  });
});
