import { createHash } from 'node:crypto';

/**
 * How much later than planned a schedule runs, so that many schedules of one time do not begin together. The same for
 * every run of a schedule.
 * @param id the ID of the schedule
 * @param maxSeconds the most seconds
 * @returns milliseconds
 */
export const jitterMs = (id: string, maxSeconds: number): number =>
  (createHash('sha256').update(id).digest().readUInt32BE(0) % (maxSeconds + 1)) * 1000;
