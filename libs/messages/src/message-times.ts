import { DomainError, type MessageRule, type QuietHours } from '@headgate/domain-contracts';

/** Reads the clocks of time zones. */
export abstract class MessageTimes {
  /**
   * The last time of a digest that is after `since` and not after `until`, in milliseconds since the epoch. A day on
   * which the clocks skip the time has it later, and one that shows it twice has it once.
   * @param at `HH:MM`
   * @throws DomainError INVALID_INPUT for an unknown time zone
   */
  abstract lastDigest(at: string, timeZone: string, since: number, until: number): number | undefined;
  /** The first time of a digest after another time. */
  abstract nextDigest(at: string, timeZone: string, after: number): number | undefined;
}

const MINUTES_PER_HOUR = 60;

const minutesOf = (text: string): number => {
  const [hours = 0, minutes = 0] = text.split(':').map(Number);
  return hours * MINUTES_PER_HOUR + minutes;
};

/** The minute of the day that the clocks of a time zone show. */
function minuteOfDay(timeZone: string, time: number): number {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', hour: 'numeric', minute: 'numeric' });
  const parts = Object.fromEntries(format.formatToParts(time).map(({ type, value }) => [type, Number(value)]));
  return (parts['hour'] ?? 0) * MINUTES_PER_HOUR + (parts['minute'] ?? 0);
}

/** Whether nothing is sent immediately at a time. Hours may go over midnight. */
export function isQuiet({ quietHours, timeZone }: Pick<MessageRule, 'quietHours' | 'timeZone'>, time: number): boolean {
  if (!quietHours) return false;
  const [from, to] = [minutesOf(quietHours.from), minutesOf(quietHours.to)];
  const minute = minuteOfDay(timeZone, time);
  return from <= to ? minute >= from && minute < to : minute >= from || minute < to;
}

/** @throws DomainError INVALID_INPUT */
export function expectQuietHours({ from, to }: QuietHours): void {
  if (from === to)
    throw new DomainError('INVALID_INPUT', 'quietHours: from and to are the same time; leave quietHours out for none.');
}
