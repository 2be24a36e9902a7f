import { DomainError, RETRY_DELAYS_MS, SingleReplica, type MessageRule } from '@headgate/domain-contracts';
import { ManualReplica, MemoryMessageRuleStore } from '@headgate/testing';
import type { MessageDispatcher } from './message-dispatcher.js';
import { ATTEMPT_MS, GATHER_MS, MAX_PER_HOUR, MAX_WAITING } from './outbox.js';
import {
  buildCondition,
  buildRule,
  DAY_MS,
  HOUR_MS,
  MessageWorld,
  MINUTE_MS,
  pass,
  settle,
  START,
} from './testing/message-world.js';

describe('MessageDispatcher', () => {
  let world: MessageWorld;
  let dispatchers: MessageDispatcher[];

  const open = async (...rules: MessageRule[]): Promise<MessageDispatcher> => {
    await world.fill(...rules);
    return start();
  };
  const start = async (replica: ManualReplica | SingleReplica = new SingleReplica()): Promise<MessageDispatcher> => {
    const dispatcher = world.open(replica);
    dispatchers.push(dispatcher);
    await settle(dispatcher);
    return dispatcher;
  };
  const later = (ms: number): Promise<void> => pass(world, ms, ...dispatchers);

  beforeEach(() => {
    world = new MessageWorld();
    dispatchers = [];
  });
  afterEach(async () => {
    for (const dispatcher of dispatchers) await dispatcher.close();
  });

  test('sends one message about a problem, and one about its end', async () => {
    await open();
    world.set(buildCondition('web'));
    await later(MINUTE_MS);
    world.set(buildCondition('web'), false);
    await later(MINUTE_MS);
    await later(HOUR_MS);
    expect(world.subjects()).toEqual(['[Headgate] Failed: web (lab)', '[Headgate] Recovered: web (lab)']);
    expect(world.sender.sent.map(({ severity }) => severity)).toEqual(['error', 'info']);
    expect(world.messages().map(({ status, text }) => [status, text])).toEqual([
      ['sent', ''],
      ['sent', ''],
    ]);
  });

  test('sends nothing about problems that are older than the rule', async () => {
    world.set(buildCondition('web'));
    await open();
    await later(HOUR_MS);
    expect(world.subjects()).toEqual([]);
  });

  test('repeats nothing after a restart, and reports what began and ended meanwhile', async () => {
    world.set(buildCondition('old'));
    const first = await open();
    world.set(buildCondition('web'));
    await later(MINUTE_MS);
    await first.close();
    dispatchers = [];
    world.set(buildCondition('old'), false);
    world.set(buildCondition('db'));
    await start();
    await later(MINUTE_MS);
    expect(world.subjects()).toEqual([
      '[Headgate] Failed: web (lab)',
      '[Headgate] 2 events, such as Recovered: old (lab)',
    ]);
    expect(world.sender.sent[1]?.text).toContain('Failed: db (lab)');
  });

  test('gathers 500 failed instances into one message with 20 names and a count', async () => {
    await open();
    for (let index = 0; index < 500; index++) world.set(buildCondition(`vm-${index}`));
    await later(HOUR_MS);
    expect(world.subjects()).toEqual(['[Headgate] 500 events, such as Failed: vm-0 (lab)']);
    const [message] = world.sender.sent;
    expect(message?.text.match(/Failed: vm-/g)?.length).toBe(20);
    expect(message?.text).toContain('and 480 further events');
    expect(world.messages()[0]?.events).toBe(500);
  });

  test('sends a limited number of messages about 1,000 problems that flap, with the number of all events', async () => {
    await open();
    let events = 0;
    for (let minute = 0; minute < 60; minute++) {
      for (let index = 0; index < 1000; index++) world.set(buildCondition(`vm-${index}`), minute % 2 === 0);
      events += 1000;
      await later(MINUTE_MS);
    }
    expect(world.sender.sent.length).toBeLessThanOrEqual(MAX_PER_HOUR);
    await later(2 * HOUR_MS);
    expect(world.messages().reduce((sum, message) => sum + message.events, 0)).toBe(events);
    expect(JSON.stringify(world.rules.all()).length).toBeLessThan(100_000);
  });

  test('counts the events of one object in one line', async () => {
    await open();
    for (const exists of [true, false, true]) {
      world.set(buildCondition('web'), exists);
      dispatchers[0]?.wake();
      await settle(...dispatchers);
    }
    await later(MINUTE_MS);
    expect(world.subjects()).toEqual(['[Headgate] Failed: web (lab)']);
    expect(world.sender.sent[0]?.text).toContain('(the last of 3 events)');
  });

  test('reports no end of a problem that can not be seen, and no new one when it can be seen again', async () => {
    await open();
    world.set(buildCondition('web'));
    await later(MINUTE_MS);
    world.unseen.add('instances/lab');
    await later(MINUTE_MS);
    world.unseen.clear();
    await later(MINUTE_MS);
    expect(world.subjects()).toEqual(['[Headgate] Failed: web (lab)']);
  });

  test('reports a problem again that has become more serious', async () => {
    await open(buildRule({ minSeverity: 'error' }));
    const disk = { kind: 'problem', source: 'health', key: 'problem/disk', title: 'The disk fills up' } as const;
    world.set(buildCondition('x', { ...disk, severity: 'warning' }));
    await later(MINUTE_MS);
    expect(world.subjects()).toEqual([]);
    world.set(buildCondition('x', { ...disk, severity: 'error' }));
    await later(MINUTE_MS);
    expect(world.subjects()).toEqual(['[Headgate] Problem: The disk fills up']);
  });

  test('reports failed work once, also when the clock is set back and after a restart', async () => {
    const first = await open();
    await later(MINUTE_MS);
    const endedAt = world.clock.iso();
    world.failed.push({ id: 't1', kind: 'task.failed', severity: 'error', title: 'start of web', detail: '', endedAt });
    await later(MINUTE_MS);
    await first.close();
    dispatchers = [];
    world.clock.advance(-30 * MINUTE_MS);
    await start();
    await later(HOUR_MS);
    expect(world.subjects()).toEqual(['[Headgate] Task failed: start of web']);
  });

  test('names no instance that its owner may not read any more', async () => {
    await open(buildRule({ delivery: 'digest' }));
    world.set(buildCondition('secret'));
    world.set(buildCondition('web'));
    await later(MINUTE_MS);
    world.readable = (ref) => !ref.endsWith('secret');
    await later(DAY_MS);
    expect(world.sender.sent.length).toBe(1);
    expect(JSON.stringify(world.sender.sent)).not.toContain('secret');
  });

  test('sends one digest a day, one only for several missed ones, and none without anything to say', async () => {
    const first = await open(buildRule({ delivery: 'digest' }));
    await later(DAY_MS);
    expect(world.subjects()).toEqual([]);
    world.set(buildCondition('web'));
    await later(HOUR_MS);
    await first.close();
    dispatchers = [];
    world.clock.advance(3 * DAY_MS);
    await start();
    await later(HOUR_MS);
    expect(world.subjects()).toEqual(['[Headgate] Digest: 1 event, 1 open problem']);
    await later(DAY_MS);
    expect(world.subjects().slice(1)).toEqual(['[Headgate] Digest: 0 events, 1 open problem']);
  });

  test('repeats no digest after the clock was set back', async () => {
    await open(buildRule({ delivery: 'digest' }));
    world.set(buildCondition('web'));
    await later(8 * HOUR_MS);
    world.clock.advance(-4 * HOUR_MS);
    await later(8 * HOUR_MS);
    expect(world.subjects().length).toBe(1);
  });

  test('sends nothing in quiet hours, and one message afterwards', async () => {
    await open(buildRule({ quietHours: { from: '22:00', to: '06:00' } }));
    await later(HOUR_MS);
    for (const name of ['web', 'db']) {
      world.set(buildCondition(name));
      await later(2 * HOUR_MS);
    }
    expect(world.subjects()).toEqual([]);
    await later(2 * HOUR_MS);
    expect(world.subjects()).toEqual(['[Headgate] 2 events, such as Failed: web (lab)']);
  });

  test('retries a message with the same ID, in order, for about a day', async () => {
    world.sender.outcome = { result: 'failed', reason: 'The server does not answer.' };
    await open();
    world.set(buildCondition('web'));
    await later(MINUTE_MS);
    world.set(buildCondition('db'));
    await later(MINUTE_MS);
    expect(new Set(world.sender.sent.map(({ id }) => id)).size).toBe(1);
    expect(world.messages().map(({ status, reason }) => [status, reason])).toEqual([
      ['waiting', ''],
      ['waiting', 'The server does not answer.'],
    ]);
    for (const delay of RETRY_DELAYS_MS) await later(delay + MINUTE_MS);
    expect(world.messages().at(-1)).toMatchObject({ status: 'failed', attempts: RETRY_DELAYS_MS.length + 1 });
    world.sender.outcome = { result: 'sent', reason: '' };
    await later(13 * HOUR_MS);
    expect(world.messages().map(({ status }) => status)).toEqual(['sent', 'failed']);
  });

  test('gives a message up that the receiver refuses', async () => {
    world.sender.outcome = { result: 'refused', reason: 'mail.example.org answered: 550 no such user' };
    await open();
    world.set(buildCondition('web'));
    await later(DAY_MS);
    expect(world.sender.sent.length).toBe(1);
    expect(world.messages()[0]).toMatchObject({ status: 'failed', reason: expect.stringContaining('550') });
  });

  test('writes no more messages than may wait', async () => {
    world.sender.outcome = { result: 'failed', reason: 'no' };
    await open();
    for (let hour = 0; hour < MAX_WAITING + 10; hour++) {
      world.set(buildCondition(`vm-${hour}`));
      await later(10 * MINUTE_MS);
    }
    expect(world.messages().filter(({ status }) => status === 'waiting').length).toBeLessThanOrEqual(MAX_WAITING);
  });

  test('sends a message again with its ID, if the process was killed before the outcome was stored', async () => {
    world.sender.outcome = () => new Promise(() => undefined);
    await open();
    world.set(buildCondition('web'));
    await later(MINUTE_MS);
    // The process is killed: nothing of it happens any more.
    dispatchers = [];
    world.sender.outcome = { result: 'sent', reason: '' };
    await start();
    await later(MINUTE_MS);
    expect(world.sender.sent.length).toBe(1);
    await later(ATTEMPT_MS);
    await later(DAY_MS);
    expect(world.sender.sent.length).toBe(2);
    expect(new Set(world.sender.sent.map(({ id }) => id)).size).toBe(1);
  });

  test('does not send a message again whose outcome could not be stored', async () => {
    await open();
    const change = world.rules.change.bind(world.rules);
    let isFull = false;
    world.rules.change = async (...args) => {
      if (isFull) throw new DomainError('REGISTRY_FULL', 'The disk is full.');
      return change(...args);
    };
    world.sender.outcome = async () => {
      isFull = true;
      return { result: 'sent', reason: '' };
    };
    world.set(buildCondition('web'));
    await later(10 * MINUTE_MS);
    isFull = false;
    await later(10 * MINUTE_MS);
    expect([world.sender.sent.length, world.messages()[0]?.status]).toEqual([1, 'sent']);
  });

  test('loses no event while the disk is full', async () => {
    await open();
    const change = world.rules.change.bind(world.rules);
    world.rules.change = () => Promise.reject(new DomainError('REGISTRY_FULL', 'The disk is full.'));
    world.set(buildCondition('web'));
    await later(10 * MINUTE_MS);
    expect(world.subjects()).toEqual([]);
    world.rules.change = change;
    await later(MINUTE_MS);
    expect(world.subjects()).toEqual(['[Headgate] Failed: web (lab)']);
  });

  test('only the leader sends, and the next one repeats nothing', async () => {
    await world.fill();
    const [a, b] = [new ManualReplica('a'), new ManualReplica('b')];
    for (const replica of [a, b]) {
      const dispatcher = world.open({
        subscribe: (listener) => {
          if (replica.isLeader) listener.elected?.();
          return replica.subscribe(listener);
        },
      });
      dispatchers.push(dispatcher);
    }
    world.set(buildCondition('unseen'));
    await later(MINUTE_MS);
    expect(world.rules.all()[0]?.state.sources).toEqual([]);
    a.elect();
    await later(MINUTE_MS);
    world.set(buildCondition('web'));
    await later(GATHER_MS + MINUTE_MS);
    a.depose();
    b.elect();
    await later(HOUR_MS);
    expect(world.subjects()).toEqual(['[Headgate] Failed: web (lab)']);
  });

  test('sees nothing for an owner without rights, and goes on when they have them again', async () => {
    await open();
    world.refusal = new DomainError('NOT_PERMITTED', 'The token was revoked.');
    world.set(buildCondition('web'));
    await later(HOUR_MS);
    expect(world.subjects()).toEqual([]);
    world.refusal = undefined;
    await later(MINUTE_MS);
    expect(world.subjects()).toEqual(['[Headgate] Failed: web (lab)']);
  });

  test('keeps names on one line and sends them as plain text', async () => {
    await open();
    const title = 'web\r\nBcc: eve@example.org\r\n\r\n<script>alert(1)</script>\u202e';
    world.set(buildCondition('web', { title }));
    await later(MINUTE_MS);
    const [message] = world.sender.sent;
    expect(message?.subject).toBe('[Headgate] Failed: web Bcc: eve@example.org <script>alert(1)</script>');
    expect(message?.text.split('\n').filter((line) => line.startsWith('Bcc:'))).toEqual([]);
  });

  test('reads the other sources again every two minutes, and not at all without rules', async () => {
    await open(buildRule({ enabled: false }));
    await later(HOUR_MS);
    expect(world.refreshes).toBe(0);
    const [rule] = world.rules.all();
    if (rule) await world.rules.put({ ...rule, enabled: true });
    await later(HOUR_MS);
    expect(world.refreshes).toBeGreaterThan(20);
    expect(world.refreshes).toBeLessThan(40);
  });

  test('a store of its own keeps a rule under a bound, whatever happens', async () => {
    const rules = new MemoryMessageRuleStore();
    await world.fill();
    for (const rule of world.rules.all()) await rules.put(rule);
    for (let index = 0; index < 5000; index++) world.set(buildCondition(`vm-${index}`));
    const dispatcher = world.open(new SingleReplica(), rules);
    dispatchers.push(dispatcher);
    await later(MINUTE_MS);
    expect(rules.all()[0]?.state.open.length).toBe(1000);
    expect(world.clock.now()).toBeGreaterThan(START);
  });
});
