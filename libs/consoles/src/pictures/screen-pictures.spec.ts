import { DomainError, type ConsoleSource } from '@headgate/domain-contracts';
import { buildVm, FixedClock } from '@headgate/testing';
import type { ConsoleBroker } from '../console-broker.js';
import { Framebuffer } from '../rfb/framebuffer.js';
import { ScreenPictures } from './screen-pictures.js';

describe('ScreenPictures', () => {
  const vm = { ref: buildVm().ref, uid: 'one' };
  const source = {} as ConsoleSource;
  let clock: FixedClock;
  let looks: number;
  let failure: DomainError | undefined;
  let held: Promise<void> | undefined;
  let atOnce: { now: number; most: number };
  let pictures: ScreenPictures;

  beforeEach(() => {
    clock = new FixedClock();
    looks = 0;
    failure = undefined;
    held = undefined;
    atOnce = { now: 0, most: 0 };
    const frameOf = async (): Promise<Framebuffer> => {
      looks++;
      atOnce = { now: atOnce.now + 1, most: Math.max(atOnce.most, atOnce.now + 1) };
      await held;
      atOnce.now--;
      if (failure) throw failure;
      const frame = new Framebuffer();
      frame.resize({ width: 8, height: 4 });
      frame.fill(frame.whole, looks);
      return frame;
    };
    pictures = new ScreenPictures({ frameOf } as unknown as ConsoleBroker, clock);
  });

  test('takes one picture for callers at the same time, and for those of the next 5 s', async () => {
    const [first, second] = await Promise.all([pictures.take(vm, source, 640), pictures.take(vm, source, 640)]);
    expect(second).toBe(first);
    clock.advance(4_999);
    expect(await pictures.take(vm, source, 640)).toBe(first);
    expect(looks).toBe(1);
    clock.advance(1);
    const next = await pictures.take(vm, source, 640);
    expect(next.takenAtMs - first.takenAtMs).toBe(5_000);
    expect(next.etag).not.toBe(first.etag);
    expect(looks).toBe(2);
  });

  test('has the same ETag for the same screen', async () => {
    const { etag } = await pictures.take(vm, source, 640);
    clock.advance(5_000);
    looks = 0;
    expect((await pictures.take(vm, source, 640)).etag).toBe(etag);
    expect(etag).toMatch(/^"[\w-]{22}"$/);
  });

  test.each(['BUSY', 'BACKEND_UNREACHABLE', 'BACKEND_TIMEOUT'] as const)(
    'is the last one of 10 minutes, with its age, while the screen is %s',
    async (code) => {
      const { takenAtMs } = await pictures.take(vm, source, 640);
      failure = new DomainError(code, 'Not now.');
      clock.advance(599_999);
      expect(await pictures.take(vm, source, 640)).toMatchObject({ takenAtMs });
      clock.advance(1);
      await expect(pictures.take(vm, source, 640)).rejects.toBe(failure);
    },
  );

  test('is none of a VM that was created under the same name, and none when there can be none', async () => {
    await pictures.take(vm, source, 640);
    clock.advance(5_000);
    failure = new DomainError('BUSY', 'Not now.');
    await expect(pictures.take({ ...vm, uid: 'two' }, source, 640)).rejects.toBe(failure);
    failure = new DomainError('NOT_SUPPORTED', 'No graphics.');
    await expect(pictures.take(vm, source, 640)).rejects.toBe(failure);
  });

  test('takes eight at the same time, lets 64 wait and refuses more', async () => {
    let release = (): void => undefined;
    held = new Promise((resolve) => (release = resolve));
    const taken = Array.from({ length: 73 }, (_none, index) => pictures.take({ ...vm, uid: `${index}` }, source, 64));
    await expect(taken[72]).rejects.toMatchObject({ code: 'BUSY', message: expect.stringMatching(/^Too many/) });
    expect(atOnce.now).toBe(8);
    release();
    await Promise.all(taken.slice(0, 72));
    expect([looks, atOnce.most]).toEqual([72, 8]);
  });
});
