import { FixedClock } from '@headgate/testing';
import type { HardwareDeps } from '../vm-hardware.js';
import { VolumeWaits } from './volume-waits.js';

/** Pauses take no time of the test. */
class HastyClock extends FixedClock {
  override delay(ms: number): Promise<void> {
    this.advance(ms);
    return Promise.resolve();
  }
}

const PATH = { namespace: 'shop', name: 'web-1-disk-1' };

function waitsFor(answer: (read: number) => object | undefined): VolumeWaits {
  let reads = 0;
  const api = { find: () => Promise.resolve(answer(++reads)) } as unknown as HardwareDeps['api'];
  return new VolumeWaits({ api, clock: new HastyClock() });
}

describe('VolumeWaits', () => {
  test('ends when the claim is gone', async () => {
    await expect(waitsFor((read) => (read < 3 ? {} : undefined)).untilGone(PATH)).resolves.toBeUndefined();
  });

  test('does not report a claim as deleted that is still used', async () => {
    await expect(waitsFor(() => ({})).untilGone(PATH)).rejects.toMatchObject({
      code: 'BACKEND_TIMEOUT',
      message:
        'web-1-disk-1 is detached, but was not deleted within 60 s. The cluster deletes it when nothing uses it anymore.',
    });
  });
});
