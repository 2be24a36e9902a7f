import { randomUUID } from 'node:crypto';
import { isProofId, RunningProofs } from './running-proofs.js';

const never = new AbortController().signal;

describe('the running proofs of a context', () => {
  let running: RunningProofs;
  beforeEach(() => (running = new RunningProofs()));

  const begin = (id: string, memoryBytes = 1) => {
    let end = (): void => undefined;
    const held = new Promise<void>((resolve) => (end = resolve));
    const ended = running.run({ id, vm: { memoryBytes } }, never, async (signal) => {
      await Promise.race([held, new Promise((resolve) => signal.addEventListener('abort', resolve))]);
      signal.throwIfAborted();
      return id;
    });
    return { end, ended };
  };

  test('are two at most, and each counts from its beginning until its end', async () => {
    const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()];
    const one = begin(first, 5);
    expect(running.refusals('lab', third)).toEqual([]);
    const two = begin(second, 7);
    expect(running.refusals('lab', third)).toMatchObject([
      { code: 'BUSY', reason: 'lab has 2 proofs of backups already.' },
    ]);
    // The proof that asks is one of them.
    expect(running.refusals('lab', second)).toEqual([]);
    expect(running.memoryOfOthers(third)).toEqual([5, 7]);
    expect(running.memoryOfOthers(first)).toEqual([7]);
    one.end();
    expect(await one.ended).toBe(first);
    expect(running.has(first)).toBe(false);
    expect(running.refusals('lab', third)).toEqual([]);
    two.end();
    await two.ended;
    expect(running.memoryOfOthers(third)).toEqual([]);
  });

  test('refuse an ID that runs already, and one that is no UUID, before any work', async () => {
    const id = randomUUID();
    const one = begin(id);
    await expect(begin(id).ended).rejects.toMatchObject({ code: 'BUSY' });
    for (const wrong of ['', id.toUpperCase(), `${id}\n`, `../${id}`, id.slice(1)]) {
      expect(isProofId(wrong)).toBe(wrong === id);
      await expect(begin(wrong).ended).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    }
    one.end();
    await one.ended;
  });

  test('are forgotten when their work fails, and all end when the service stops', async () => {
    const failing = running.run({ id: randomUUID(), vm: { memoryBytes: 1 } }, never, () =>
      Promise.reject(new Error('no')),
    );
    await expect(failing).rejects.toThrow('no');
    const id = randomUUID();
    const { ended } = begin(id);
    const stopped = expect(ended).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
    const waiting = running.whenEnded(id);
    await running.close();
    await waiting;
    await stopped;
    expect(running.has(id)).toBe(false);
    await running.whenEnded(id);
  });
});
