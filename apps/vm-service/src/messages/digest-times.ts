import { MessageTimes } from '@headgate/messages';
import { PlannedTimes } from '@headgate/schedules';

/** The times of digests are those of a daily schedule, also on the days on which clocks change. */
export class DigestTimes extends MessageTimes {
  private readonly known = new Map<string, PlannedTimes>();

  override lastDigest(at: string, timeZone: string, since: number, until: number): number | undefined {
    return since >= until ? undefined : this.timesOf(at, timeZone).last(since, until);
  }

  override nextDigest(at: string, timeZone: string, after: number): number | undefined {
    return this.timesOf(at, timeZone).after(after);
  }

  private timesOf(at: string, timeZone: string): PlannedTimes {
    const key = `${at} ${timeZone}`;
    const known = this.known.get(key);
    if (known) return known;
    const [hours, minutes] = at.split(':').map(Number);
    const times = new PlannedTimes({ cron: `${minutes} ${hours} * * *`, timeZone });
    if (this.known.size >= MAX_KNOWN) this.known.clear();
    this.known.set(key, times);
    return times;
  }
}

/** Time zones come from users. */
const MAX_KNOWN = 500;
