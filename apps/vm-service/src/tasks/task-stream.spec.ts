import { EventEmitter } from 'node:events';
import type { Writable } from 'node:stream';
import { TaskBoard } from '@headgate/tasks';
import { ADMINISTRATOR, type TaskReporter } from '@headgate/domain-contracts';
import { FixedClock, MemoryTaskStore } from '@headgate/testing';
import { TaskStream, type StreamPosition } from './task-stream.js';

/** A client that can stop reading. */
class Client extends EventEmitter {
  writableNeedDrain = false;
  isReading = true;
  hasEnded = false;
  isDestroyed = false;
  text = '';

  write(text: string): boolean {
    this.text += text;
    this.writableNeedDrain = !this.isReading;
    return this.isReading;
  }

  read(): void {
    this.isReading = true;
    this.writableNeedDrain = false;
    this.emit('drain');
  }

  end(): void {
    this.hasEnded = true;
  }

  destroy(): void {
    this.isDestroyed = true;
  }

  /** The events since the last call: name, ID and data. */
  take(): { event: string; id: string; data: Record<string, unknown> }[] {
    const events = [...this.text.matchAll(/event: (\w+)\nid: (\S+)\ndata: (.*)\n\n/g)].map(
      ([, event = '', id = '', data = '']) => ({ event, id, data: JSON.parse(data) as Record<string, unknown> }),
    );
    this.text = '';
    return events;
  }
}

describe('TaskStream', () => {
  let clock: FixedClock;
  let report: TaskReporter;
  let gate: PromiseWithResolvers<void>;
  let board: TaskBoard;
  let id: string;

  beforeEach(async () => {
    clock = new FixedClock();
    gate = Promise.withResolvers();
    board = new TaskBoard(new MemoryTaskStore(), clock);
    const ref = { kind: 'vm', context: 'lab', namespace: 'local', name: 'web' } as const;
    id = await board.start('create', ref, { login: 'ann', name: '', grant: ADMINISTRATOR }, (given) => {
      report = given;
      return gate.promise;
    });
    await settled();
    report.log('first');
  });

  const settled = async (): Promise<void> => {
    for (let turn = 0; turn < 50; turn++) await Promise.resolve();
  };

  const open = (client = new Client(), resumeFrom?: StreamPosition): { client: Client; stream: TaskStream } => {
    const task = board.live(id)!;
    const idOf = ({ logOffset, membersVersion }: StreamPosition) => `${logOffset}-${membersVersion}`;
    const stream = new TaskStream({ out: client as unknown as Writable, task, clock, idOf, resumeFrom });
    stream.start();
    return { client, stream };
  };

  test('sends a snapshot, then steps, progress and new log lines with their offset', () => {
    const { client } = open();
    expect(client.take()).toMatchObject([
      { event: 'snapshot', id: '6-0', data: { id, status: 'running', log: 'first', logOffset: 6 } },
    ]);
    report.step('Write the disk');
    report.progress(0.5);
    report.log('second');
    expect(client.take()).toEqual([]);
    clock.advance(100);
    expect(client.take()).toMatchObject([
      { event: 'log', id: '28-0', data: { offset: 6, text: 'Write the disk\nsecond\n' } },
      { event: 'changed', data: { progress: 0.5, steps: [{ name: 'Write the disk' }] } },
    ]);
    clock.advance(10_000);
    expect(client.text).toBe('');
  });

  test('ends with the task', async () => {
    const { client } = open();
    client.take();
    gate.resolve();
    await settled();
    clock.advance(100);
    expect(client.take()).toMatchObject([{ event: 'changed', data: { status: 'done', progress: 1 } }]);
    expect(client.hasEnded).toBe(true);
  });

  test('continues from a position without a snapshot', () => {
    report.log('second');
    const { client } = open(new Client(), { logOffset: 6, membersVersion: 0 });
    expect(client.take()).toMatchObject([
      { event: 'log', data: { offset: 6, text: 'second\n' } },
      { event: 'changed', data: { status: 'running' } },
    ]);
  });

  test('writes nothing while the client does not read, and then only the latest state', () => {
    const { client } = open();
    client.take();
    client.isReading = false;
    report.log('fills the buffer');
    clock.advance(100);
    client.take();
    for (let line = 0; line < 50_000; line++) {
      report.log(`line ${line}`);
      report.progress(line / 50_000);
      if (line % 1000 === 0) clock.advance(100);
    }
    expect(client.text).toBe('');
    client.read();
    const [log, changed, ...more] = client.take();
    expect(more).toEqual([]);
    const { offset, text } = log?.data as { offset: number; text: string };
    expect(text.endsWith('line 49999\n')).toBe(true);
    expect(text.length).toBeLessThan(300_000);
    expect(offset + text.length).toBe(Number(log?.id.split('-')[0]));
    expect(changed?.data).toMatchObject({ progress: 49_999 / 50_000 });
  });

  test('disconnects a client that reads nothing for a minute', () => {
    const { client } = open();
    client.isReading = false;
    report.log('fills the buffer');
    clock.advance(59_000);
    expect(client.isDestroyed).toBe(false);
    clock.advance(2_000);
    expect(client.isDestroyed).toBe(true);
  });

  test('ends only when a slow client has read the end', async () => {
    const { client } = open();
    client.isReading = false;
    report.log('fills the buffer');
    clock.advance(100);
    client.take();
    gate.resolve();
    await settled();
    clock.advance(1_000);
    expect(client.hasEnded).toBe(false);
    client.read();
    expect(client.take()).toMatchObject([{ event: 'changed', data: { status: 'done' } }]);
    expect(client.hasEnded).toBe(true);
  });

  test('has no timer and no listener after it was stopped', () => {
    const { client, stream } = open();
    report.log('second');
    stream.stop();
    client.take();
    clock.advance(120_000);
    expect([client.text, client.isDestroyed]).toEqual(['', false]);
  });
});
