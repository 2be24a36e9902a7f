import { OpenedFiles, type FileContent, type FilePage } from '@headgate/domain-contracts';
import { FixedClock } from '@headgate/testing';
import { FILE_SESSION_IDLE_MS, FileSessions, type NewFileSession } from './file-sessions.js';

class Opened extends OpenedFiles {
  override readonly volumes = [];
  override readonly ended: Promise<void>;
  end: () => void = () => undefined;
  closed = 0;

  constructor() {
    super();
    this.ended = new Promise((resolve) => (this.end = resolve));
  }

  override list(): Promise<FilePage> {
    return Promise.reject(new Error('unused'));
  }
  override read(): Promise<FileContent> {
    return Promise.reject(new Error('unused'));
  }
  override archive(): Promise<never> {
    return Promise.reject(new Error('unused'));
  }
  override async close(): Promise<void> {
    this.closed++;
    this.end();
  }
}

describe('FileSessions', () => {
  let clock: FixedClock;
  let sessions: FileSessions;
  let opened: Opened[];
  beforeEach(() => {
    clock = new FixedClock();
    sessions = new FileSessions(clock);
    opened = [];
  });
  const wanted = (scope: string, owner = 'ann'): NewFileSession => ({
    scope,
    owner,
    subject: scope,
    label: '',
    open: async () => {
      const files = new Opened();
      opened.push(files);
      return files;
    },
  });

  test('open one guest for requests of one user at the same time, and another one for another user', async () => {
    const [first, second] = await Promise.all([sessions.open(wanted('a')), sessions.open(wanted('a'))]);
    expect(first).toBe(second);
    expect(await sessions.open(wanted('a'))).toBe(first);
    expect((await sessions.open(wanted('a', 'bob'))).id).not.toBe(first.id);
    expect(opened).toHaveLength(2);
  });

  test('end when they were not used for a while, and not before', async () => {
    const { id } = await sessions.open(wanted('a'));
    clock.advance(FILE_SESSION_IDLE_MS - 1);
    sessions.get(id, 'a', 'ann');
    clock.advance(FILE_SESSION_IDLE_MS - 1);
    expect(opened[0]?.closed).toBe(0);
    clock.advance(1);
    await opened[0]?.ended;
    expect(opened[0]?.closed).toBe(1);
    expect(() => sessions.get(id, 'a', 'ann')).toThrow(expect.objectContaining({ code: 'FILE_SESSION_NOT_FOUND' }));
  });

  test('are not found for another user, other disks, or after their guest has ended', async () => {
    const lost = expect.objectContaining({ code: 'FILE_SESSION_NOT_FOUND' });
    const { id } = await sessions.open(wanted('a'));
    expect(() => sessions.get(id, 'a', 'bob')).toThrow(lost);
    expect(() => sessions.get(id, 'b', 'ann')).toThrow(lost);
    opened[0]?.end();
    await opened[0]?.ended;
    expect(() => sessions.get(id, 'a', 'ann')).toThrow(lost);
  });

  test('are limited, and a failure leaves room for another one', async () => {
    for (let index = 0; index < 19; index++) await sessions.open(wanted(`s${index}`));
    const failing = { ...wanted('f'), open: () => Promise.reject(new Error('no')) };
    await expect(sessions.open(failing)).rejects.toThrow('no');
    await sessions.open(wanted('last'));
    await expect(sessions.open(wanted('more'))).rejects.toMatchObject({ code: 'BUSY' });
  });

  test('end with the service, also those that are being opened', async () => {
    await sessions.open(wanted('a'));
    let signaled = false;
    const slow = sessions.open({
      ...wanted('b'),
      open: (_id, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            signaled = true;
            reject(signal.reason as Error);
          });
        }),
    });
    const refused = expect(slow).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
    await sessions.close();
    await refused;
    expect([signaled, opened[0]?.closed]).toEqual([true, 1]);
    await expect(sessions.open(wanted('c'))).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
  });
});
