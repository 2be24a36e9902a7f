import { decodeBase64 } from './base64.js';
import type { JsonObject } from './parse-json.js';
import { redactEvent } from './redact-event.js';
import { contentHash, eventIdOf, redactIfModified, signEvent, verifySignedEvent } from './signed-event.js';
import { signJson } from './signed-json.js';
import { SigningKey } from './signing-key.js';

// The key and the events of the specification's own test vectors.
const key = SigningKey.fromSeed(
  'ed25519:1',
  decodeBase64('YJDBA9Xnr2sVqXD9Vj7XVUnmFZcZrlw8Md7kMW+3XA1') ?? Buffer.alloc(0),
);
const MINIMAL = {
  room_id: '!x:domain',
  sender: '@a:domain',
  origin: 'domain',
  origin_server_ts: 1000000,
  type: 'X',
  signatures: {},
  hashes: {},
  content: {},
  prev_events: [],
  auth_events: [],
  depth: 3,
  unsigned: { age_ts: 1000000 },
};
const MINIMAL_HASH = '5jM4wQpv6lnBo7CLIghJuHdW+s2CMBJPUOGOC89ncos';

const event: JsonObject = {
  room_id: '!r:b',
  sender: '@nora:b',
  type: 'm.room.message',
  content: { body: 'hello' },
  origin_server_ts: 1,
  depth: 2,
  prev_events: ['$p'],
  auth_events: ['$a'],
};

describe('a federated event', () => {
  test('is hashed and signed like the examples of the specification', () => {
    expect(contentHash(MINIMAL)).toBe(MINIMAL_HASH);
    const { unsigned: _unsigned, ...rest } = MINIMAL;
    const { signatures } = signJson({ ...rest, hashes: { sha256: MINIMAL_HASH } }, 'domain', key);
    expect(signatures).toEqual({
      domain: { 'ed25519:1': 'KxwGjPSDEtvnFgU00fwFz+l6d2pJM6XBIaMEn81SXPTRl16AqLAYqfIReFGZlHi5KLjAWbOoMszkwsQma+lYAg' },
    });
  });

  test('verifies despite unsigned additions, and after a redaction', () => {
    const signed = signEvent(event, 'b', key);
    const verify = (changed: JsonObject) => verifySignedEvent(changed, 'b', key.id, key.publicKey);
    expect(verify({ ...signed, unsigned: { age: 5 } })).toBe(true);
    expect(verify(redactEvent(signed))).toBe(true);
    expect(verify({ ...signed, sender: '@mallory:b' })).toBe(false);
    expect(verify({ ...signed, depth: 3 })).toBe(false);
    expect(verify({ ...signed, hashes: {} })).toBe(false);
    expect(verifySignedEvent(signed, 'c', key.id, key.publicKey)).toBe(false);
  });

  test('is redacted if its content does not match its hash', () => {
    const signed = signEvent(event, 'b', key);
    expect(redactIfModified(signed)).toBe(signed);
    const forged = { ...signed, content: { body: 'forged' } };
    expect(verifySignedEvent(forged, 'b', key.id, key.publicKey)).toBe(true);
    expect(redactIfModified(forged)).toEqual({ ...signed, content: {} });
  });

  test('has a unique ID that does not change when it is redacted', () => {
    const signed = signEvent(event, 'b', key);
    expect(eventIdOf(signed)).toMatch(/^\$[A-Za-z0-9_-]{43}$/);
    expect(eventIdOf({ ...redactEvent(signed), unsigned: { redacted_because: {} } })).toBe(eventIdOf(signed));
    expect(eventIdOf(signEvent({ ...event, content: { body: 'other' } }, 'b', key))).not.toBe(eventIdOf(signed));
    expect(eventIdOf({ ...signed, signatures: {}, event_id: '$any' })).toBe(eventIdOf(signed));
  });
});

describe('redactEvent', () => {
  const contentAfter = (type: string, content: JsonObject) => redactEvent({ ...event, type, content }).content;

  test('keeps the position in the room and removes the content', () => {
    const redacted = redactEvent({ ...event, state_key: '', origin: 'b', unsigned: {}, extra: 1 });
    expect(redacted).toEqual({ ...event, state_key: '', content: {} });
  });

  test.each<[string, JsonObject, JsonObject]>([
    ['m.room.create', { creator: '@a:b', extra: 1 }, { creator: '@a:b', extra: 1 }],
    ['m.room.member', { membership: 'join', displayname: 'N' }, { membership: 'join' }],
    [
      'm.room.member',
      { membership: 'invite', third_party_invite: { display_name: 'N', signed: { token: 't' } } },
      { membership: 'invite', third_party_invite: { signed: { token: 't' } } },
    ],
    ['m.room.join_rules', { join_rule: 'restricted', allow: [], extra: 1 }, { join_rule: 'restricted', allow: [] }],
    ['m.room.power_levels', { invite: 5, users: {}, notifications: {} }, { invite: 5, users: {} }],
    ['m.room.history_visibility', { history_visibility: 'shared', extra: 1 }, { history_visibility: 'shared' }],
    ['m.room.redaction', { redacts: '$e', reason: 'x' }, { redacts: '$e' }],
    ['m.room.aliases', { aliases: ['#a:b'] }, {}],
    ['m.room.message', JSON.parse('{"__proto__":{"membership":"join"},"body":"x"}'), {}],
  ])('redacts %s %j like room version 11', (type, content, kept) => expect(contentAfter(type, content)).toEqual(kept));
});
