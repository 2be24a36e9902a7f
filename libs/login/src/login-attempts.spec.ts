import { FixedClock } from '@headgate/testing';
import { LoginAttempts } from './login-attempts.js';

const MINUTE_MS = 60_000;

describe('LoginAttempts', () => {
  let clock: FixedClock;
  let attempts: LoginAttempts;

  beforeEach(() => {
    clock = new FixedClock(0);
    attempts = new LoginAttempts(clock);
  });

  const fail = (count: number, login: (index: number) => string, address: (index: number) => string): number => {
    let refused = 0;
    for (let index = 0; index < count; index++) {
      try {
        attempts.begin(login(index), address(index));
      } catch (error) {
        expect(error).toMatchObject({ code: 'TOO_MANY_LOGINS' });
        refused++;
      }
    }
    return refused;
  };

  test('limits the failures of one login over many addresses', () => {
    expect(
      fail(
        100,
        () => 'ann',
        (index) => `192.0.2.${index}`,
      ),
    ).toBe(90);
  });

  test('limits the failures of one address over many logins', () => {
    expect(
      fail(
        100,
        (index) => `user-${index}`,
        () => '192.0.2.1',
      ),
    ).toBe(70);
  });

  test('counts the addresses of an IPv6 network as one', () => {
    expect(
      fail(
        100,
        (index) => `user-${index}`,
        (index) => `2001:db8:0:1::${index.toString(16)}`,
      ),
    ).toBe(70);
    expect(
      fail(
        1,
        () => 'bob',
        () => '2001:db8:0:2::1',
      ),
    ).toBe(0);
  });

  test('counts attempts that are not decided yet, and forgets those that succeed', () => {
    const running = Array.from({ length: 10 }, () => attempts.begin('ann', '192.0.2.1'));
    expect(() => attempts.begin('ann', '192.0.2.2')).toThrow('Too many attempts to log in. Try again in 15 minutes.');
    running[0]?.succeeded();
    expect(() => attempts.begin('ann', '192.0.2.2')).not.toThrow();
  });

  test('allows attempts again when the failures are old', () => {
    fail(
      10,
      () => 'ann',
      () => '192.0.2.1',
    );
    clock.advance(14 * MINUTE_MS);
    expect(() => attempts.begin('ann', '192.0.2.1')).toThrow('Try again in a minute.');
    clock.advance(MINUTE_MS);
    expect(() => attempts.begin('ann', '192.0.2.1')).not.toThrow();
  });
});
