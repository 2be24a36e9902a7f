import { EventEmitter } from 'node:events';
import { Replicas } from '@headgate/domain-contracts';
import { FixedClock } from '@headgate/testing';
import { ConsoleOwners } from './console-owners.js';

const ref = { kind: 'vm', context: 'lab', namespace: 'default', name: 'web' } as const;
const NAME = 'vnc/vm/lab/default/web';

class TestReplica extends Replicas {
  readonly isMember = true;
  readonly isLeader = false;

  constructor(
    override readonly id: string,
    private readonly owners: Map<string, string>,
  ) {
    super();
  }

  override async isGone(): Promise<boolean> {
    return false;
  }

  override async claim(name: string): Promise<string> {
    if (!this.owners.has(name)) this.owners.set(name, this.id);
    return this.owners.get(name) ?? '';
  }

  override async release(name: string): Promise<void> {
    if (this.owners.get(name) === this.id) this.owners.delete(name);
  }

  override subscribe(): () => void {
    return () => undefined;
  }
}

describe('the owner of a console', () => {
  const owned = new Map<string, string>();
  const clock = new FixedClock();
  const [a, b] = ['a', 'b'].map((id) => new ConsoleOwners(new TestReplica(id, owned), clock)) as [
    ConsoleOwners,
    ConsoleOwners,
  ];
  const open = (): EventEmitter & { once: never } => new EventEmitter() as never;

  const settled = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  };

  beforeEach(() => owned.clear());

  test('stays the same when a viewer comes while the last one leaves', async () => {
    await a.claim('vnc', ref);
    const first = open();
    a.hold('vnc', ref, first);
    const claimed = a.claim('vnc', ref);
    first.emit('close');
    await claimed;
    await settled();
    expect(owned.get(NAME)).toBe('a');
    const second = open();
    a.hold('vnc', ref, second);
    second.emit('close');
    await settled();
    expect(owned.has(NAME)).toBe(false);
  });

  test('is one replica, until its last viewer is gone', async () => {
    await a.claim('vnc', ref);
    const viewers = [open(), open()];
    for (const viewer of viewers) a.hold('vnc', ref, viewer);
    await expect(b.claim('vnc', ref)).rejects.toMatchObject({
      code: 'BUSY',
      message: expect.stringMatching(/replica a has this console of web open/),
      details: { replica: 'a' },
    });
    await b.claim('tty', ref);
    clock.advance(60_000);
    viewers[0]?.emit('close');
    expect(owned.get(NAME)).toBe('a');
    viewers[1]?.emit('close');
    await settled();
    expect(owned.has(NAME)).toBe(false);
    await b.claim('vnc', ref);
    expect(owned.get(NAME)).toBe('b');
  });

  test('releases a console whose socket was never opened', async () => {
    await a.claim('vnc', ref);
    clock.advance(29_999);
    expect(owned.get(NAME)).toBe('a');
    clock.advance(1);
    await settled();
    expect(owned.has(NAME)).toBe(false);
  });
});
