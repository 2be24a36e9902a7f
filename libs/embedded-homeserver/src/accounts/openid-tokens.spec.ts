import { Database } from '../database.js';
import { OPENID_LIFETIME_S, OpenIdTokens } from './openid-tokens.js';
import { FixedClock } from '@headgate/clock/testing';

describe('OpenIdTokens', () => {
  test('identify their user until they expire', () => {
    const db = Database.inMemory();
    const clock = new FixedClock();
    const tokens = new OpenIdTokens(db, clock);
    const token = tokens.mint('@nora:b');
    expect(tokens.userOf(`${token}x`)).toBeUndefined();
    clock.advance(OPENID_LIFETIME_S * 1000 - 1);
    expect(tokens.userOf(token)).toBe('@nora:b');
    clock.advance(1);
    expect(tokens.userOf(token)).toBeUndefined();
    tokens.mint('@olaf:b');
    expect(db.count('SELECT count(*) AS n FROM openid_tokens')).toBe(1);
    db.close();
  });
});
