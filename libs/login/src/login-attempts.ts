import { createHmac, randomBytes } from 'node:crypto';
import { DomainError, type Clock } from '@headgate/domain-contracts';

const WINDOW_MS = 15 * 60_000;
/** For one login, from all addresses together. */
const PER_LOGIN = 10;
/** For one address, whatever the logins. An IPv6 user has a /64 network. */
const PER_ADDRESS = 30;
/**
 * Counters. Others that have the same counter by chance are limited together; an attacker can neither choose them nor
 * push a counter out.
 */
const BUCKETS = 65_536;

/** An attempt that counts as failed until it is known to be right. */
export interface Attempt {
  succeeded(): void;
}

/** Limits attempts with wrong passwords and codes, by login and by address, in memory of a fixed size. */
export class LoginAttempts {
  private readonly key = randomBytes(32);
  private readonly failures = new Map<number, readonly number[]>();

  constructor(private readonly clock: Clock) {}

  /**
   * Counts an attempt before it is checked, so that attempts at the same time have one limit.
   * @param login undefined for an attempt that names none, which only has the limit of the address
   * @throws DomainError TOO_MANY_LOGINS, also for logins that do not exist
   */
  begin(login: string | undefined, address: string): Attempt {
    const now = this.clock.now();
    const counters = [
      ...(login === undefined ? [] : [{ bucket: this.bucketOf(`login ${login}`), limit: PER_LOGIN }]),
      { bucket: this.bucketOf(`address ${networkOf(address)}`), limit: PER_ADDRESS },
    ];
    for (const { bucket, limit } of counters) {
      const [oldest, ...others] = this.recent(bucket, now);
      if (oldest === undefined || others.length + 1 < limit) continue;
      const seconds = Math.ceil((oldest + WINDOW_MS - now) / 1000);
      throw new DomainError('TOO_MANY_LOGINS', `Too many attempts to log in. Try again in ${minutes(seconds)}.`, {
        details: { retryAfterSeconds: seconds },
      });
    }
    for (const { bucket } of counters) this.failures.set(bucket, [...this.recent(bucket, now), now]);
    return {
      succeeded: () => {
        for (const { bucket } of counters) this.remove(bucket, now);
      },
    };
  }

  private recent(bucket: number, now: number): readonly number[] {
    const recent = (this.failures.get(bucket) ?? []).filter((time) => time > now - WINDOW_MS);
    if (recent.length === 0) this.failures.delete(bucket);
    return recent;
  }

  private remove(bucket: number, time: number): void {
    const times = [...(this.failures.get(bucket) ?? [])];
    const index = times.indexOf(time);
    if (index !== -1) times.splice(index, 1);
    this.failures.set(bucket, times);
  }

  private bucketOf(text: string): number {
    return createHmac('sha256', this.key).update(text).digest().readUInt32BE() % BUCKETS;
  }
}

const minutes = (seconds: number): string => {
  const count = Math.ceil(seconds / 60);
  return count === 1 ? 'a minute' : `${count} minutes`;
};

/** `2001:db8:1:2:3::4` → the first 64 bits; an IPv4 address as it is. */
function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const [before = '', after] = address.split('::');
  const head = before.split(':').filter(Boolean);
  const tail = (after ?? '').split(':').filter(Boolean);
  const zeros = after === undefined ? 0 : Math.max(0, 8 - head.length - tail.length);
  return [...head, ...Array<string>(zeros).fill('0'), ...tail]
    .slice(0, 4)
    .map((part) => part.replace(/^0+(?=.)/, ''))
    .join(':');
}
