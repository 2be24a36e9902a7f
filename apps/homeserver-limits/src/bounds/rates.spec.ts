import { ManualClock, RateExceeded, RateWindows } from '@headgate/limits-core';
import { parseConfig } from '../config/config.js';
import { LiveConfig } from '../config/live-config.js';
import { Rates } from './rates.js';

function open(toml = '') {
  const outcomes: string[] = [];
  const clock = new ManualClock();
  const rates = new Rates(new RateWindows({ clock }), new LiveConfig(parseConfig(toml)), (rule, outcome) =>
    outcomes.push(`${rule} ${outcome}`),
  );
  const login = () =>
    rates.reserve([
      { rate: rates.loginAccount, key: 'user:nora' },
      { rate: rates.loginSource, key: '192.0.2.1' },
    ]);
  return { rates, clock, outcomes, login };
}

const times = (count: number, work: () => unknown) => Array.from({ length: count }, work);

describe('Rates', () => {
  test('keep the numbers of the contract', () => {
    const { rates } = open();
    const terms = rates.windows.rates.map(({ name, limit, windowMs }) => [name, limit, windowMs]);
    expect(terms).toEqual([
      ['login_account', 5, 60_000],
      ['login_source', 30, 60_000],
      ['register', 5, 300_000],
      ['ring', 10, 60_000],
      ['openid_token', 20, 60_000],
      ['sfu_credential', 20, 60_000],
    ]);
  });

  test('follow the timeline of a login: six attempts, a refusal of the right password, a new window', () => {
    const { login, clock } = open();
    login().keep();
    for (let i = 1; i < 5; i++) {
      clock.advance(10_000);
      login().keep();
    }
    clock.advance(10_000);
    expect(login).toThrow(expect.objectContaining({ retryAfterMs: 10_000 }));
    clock.advance(10_000);
    login().forget();
    times(5, () => login().keep());
    expect(login).toThrow(RateExceeded);
  });

  test('take nothing from the account when the source refuses', () => {
    const { rates, login } = open();
    times(30, () => rates.windows.count(rates.loginSource, '192.0.2.1'));
    expect(login).toThrow(RateExceeded);
    expect(rates.windows.peek(rates.loginAccount, 'user:nora')).toMatchObject({ counted: 0, inFlight: 0 });
  });

  test('bound nothing when they are switched off', () => {
    const { rates, login } = open('[ratelimit]\nenabled = false');
    times(50, () => login().keep());
    times(50, () => rates.count(rates.ring, '@a:b'));
    expect(rates.windows.stats.keys).toBe(0);
  });

  test('in the shadow count and report, and refuse nobody', () => {
    const { rates, login, outcomes } = open('[ratelimit]\nshadow = ["ring", "login_account"]');
    times(12, () => rates.count(rates.ring, '@a:b'));
    expect(outcomes.filter((outcome) => outcome === 'ring shadow_refused')).toHaveLength(2);
    times(30, () => login().keep());
    expect(outcomes.filter((outcome) => outcome === 'login_account shadow_refused')).toHaveLength(25);
    expect(login).toThrow(expect.objectContaining({ rate: 'login_source' }));
  });
});
