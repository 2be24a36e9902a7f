import { FixedClock } from '@headgate/testing';
import { LoginKeys } from './login-keys.js';
import { LoginProgress, PROGRESS_SECONDS } from './login-progress.js';

const progress = { provider: 'corp', state: 'state', nonce: 'nonce', verifier: 'verifier', returnTo: '/vms' };

describe('LoginProgress', () => {
  const clock = new FixedClock(0);
  const keys = new LoginKeys();
  const sealer = new LoginProgress(clock, keys);

  test('returns what it has sealed, unreadable to others, and only once', () => {
    const text = sealer.seal(progress);
    expect(Buffer.from(text, 'base64url').toString('latin1')).not.toContain('verifier');
    expect(sealer.take(text, 'corp', 'state')).toEqual(progress);
    expect(() => sealer.take(text, 'corp', 'state')).toThrow('already used');
  });

  test.each([
    ['no text', () => undefined, 'corp', 'state', 'no login was begun'],
    ['any text', () => 'AAAA', 'corp', 'state', 'no login was begun'],
    ['a changed text', (text: string) => `${text.slice(0, -4)}AAAA`, 'corp', 'state', 'no login was begun'],
    [
      'one of another process',
      () => new LoginProgress(clock, new LoginKeys()).seal(progress),
      'corp',
      'state',
      'no login was begun',
    ],
    ['one of another provider', (text: string) => text, 'other', 'state', 'begun at corp, not at other'],
    ['one of another request', (text: string) => text, 'corp', 'another', 'the state is of another login'],
    ['one without a state', (text: string) => text, 'corp', null, 'the state is of another login'],
  ])('refuses %s', (_title, change, provider, state, message) => {
    const text = sealer.seal({ ...progress, state: 'state' });
    expect(() => sealer.take(change(text), provider, state)).toThrow(message);
  });

  test('refuses one that is too old', () => {
    const text = sealer.seal({ ...progress, state: 'old' });
    clock.advance(PROGRESS_SECONDS * 1000);
    expect(() => sealer.take(text, 'corp', 'old')).toThrow('too long ago');
  });

  test('ends at a replica with the same keys, and at no other process', () => {
    const replica = (key: string): LoginProgress => new LoginProgress(clock, new LoginKeys(Buffer.from(key)));
    const text = replica('shared').seal(progress);
    expect(replica('shared').take(text, 'corp', 'state')).toEqual(progress);
    expect(() => replica('another').take(text, 'corp', 'state')).toThrow(/no login was begun/);
  });
});
