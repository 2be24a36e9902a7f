import { whyNoGuests } from './testing/why-no-guests.js';
import { readRecords, RECORD_RING } from './testing/stored-records.js';
import { WritingGuest } from './testing/writing-guest.js';

const ROUNDS = Number(process.env['HEADGATE_TEST_BACKUP_ROUNDS'] ?? 3);
const EVERY_MS = Number(process.env['HEADGATE_TEST_BACKUP_SECONDS'] ?? 0) * 1000;
const BOOT_MS = 240_000;
const ROUND_MS = 60_000;
const missing = whyNoGuests();
const describeWithGuests = missing === undefined ? describe : describe.skip;

describeWithGuests(`Backups of a guest that writes${missing === undefined ? '' : `: skipped, ${missing}`}`, () => {
  let guest: WritingGuest;
  beforeAll(async () => {
    guest = await WritingGuest.open();
  }, BOOT_MS);
  afterAll(() => guest?.close(), BOOT_MS);

  test(
    `are restored to all records until a moment, after each of ${ROUNDS} rounds`,
    async () => {
      expect(await guest.hasIoThread()).toBe(true);
      const rounds: { readonly point: string; readonly before: number; readonly after: number }[] = [];
      const figures: string[] = [];
      for (let round = 1; round <= ROUNDS; round++) {
        await guest.untilSaved((rounds.at(-1)?.after ?? 0) + 2);
        const [before, started] = [guest.saved, performance.now()];
        const { point, readBytes = 0, consistency, lines } = await guest.backUp();
        const tookMs = performance.now() - started;
        rounds.push({ point, before, after: guest.saved });
        if (round > 1) expect(lines.join('\n')).toMatch(/Only the changes since/);
        figures.push(`${round}: ${Math.round(tookMs)} ms, ${Math.round(readBytes / 1024)} KiB read, ${consistency}`);
        if (round < ROUNDS) await guest.lab.clock.delay(Math.max(0, EVERY_MS - tookMs));
      }
      expect(await guest.lab.points()).toEqual(rounds.map(({ point }) => point));
      // Nothing of the backups is left but the last checkpoint.
      expect((await guest.lab.machine.volumes()).filter((name) => name.includes('backup'))).toEqual([]);
      expect(await guest.checkpoints()).toHaveLength(1);

      let last = 0;
      for (const { point, before, after } of rounds) {
        const { listed, complete } = await guest.restored(point, readRecords);
        const moment = listed.length;
        expect(listed).toEqual(Array.from({ length: moment }, (_, index) => index + 1));
        // All that was reported before it began, and at most one that the guest had not reported when it ended.
        expect(moment).toBeGreaterThanOrEqual(Math.max(before, last + 1));
        expect(moment).toBeLessThanOrEqual(after + 1);
        // The guest may be replacing the oldest one.
        for (let record = Math.max(1, moment - RECORD_RING + 2); record <= moment; record++)
          expect(complete).toContain(record);
        last = moment;
      }
      if (process.env['HEADGATE_TEST_BACKUP_ROUNDS'] !== undefined)
        process.stdout.write(`${figures.join('\n')}\n${rounds.length} points, ${last} records in the last one\n`);
    },
    BOOT_MS + ROUNDS * (ROUND_MS + EVERY_MS),
  );
});
