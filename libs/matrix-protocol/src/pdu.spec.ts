import type { JsonObject } from './parse-json.js';
import { readPdu } from './pdu.js';

const event: JsonObject = {
  room_id: '!r:b.example',
  sender: '@nora:a.example',
  type: 'm.x',
  content: { a: 1 },
  hashes: { sha256: 'h' },
  origin_server_ts: 5,
  depth: 1,
  prev_events: ['$p'],
  auth_events: ['$a', '$b'],
  signatures: {},
};
const ids = (count: number) => Array.from({ length: count }, (_, i) => `$${i}`);

describe('readPdu', () => {
  test('returns the members of the event and the server of its sender', () => {
    expect(readPdu({ ...event, state_key: '' })).toEqual({
      type: 'm.x',
      roomId: '!r:b.example',
      sender: '@nora:a.example',
      senderServer: 'a.example',
      stateKey: '',
      content: { a: 1 },
      originServerTs: 5,
    });
    expect(readPdu(event)).not.toHaveProperty('stateKey');
  });

  test.each<[string, unknown]>([
    ['type', undefined],
    ['type', 5],
    ['type', 'é'.repeat(128)],
    ['state_key', null],
    ['state_key', 'x'.repeat(256)],
    ['room_id', 'r'],
    ['sender', 'nora'],
    ['content', []],
    ['content', undefined],
    ['origin_server_ts', '5'],
    ['origin_server_ts', -1],
    ['depth', undefined],
    ['prev_events', []],
    ['prev_events', ids(21)],
    ['prev_events', ['p']],
    ['auth_events', ids(11)],
    ['auth_events', [['$a', {}]]],
    ['hashes', {}],
    ['signatures', []],
  ])('refuses an event with the %s %j', (name, value) => {
    expect(() => readPdu({ ...event, [name]: value })).toThrow(
      expect.objectContaining({ errcode: 'M_BAD_JSON', message: expect.stringContaining(name) }),
    );
  });

  test('accepts the maximum number of previous and auth events', () => {
    expect(() => readPdu({ ...event, prev_events: ids(20), auth_events: ids(10) })).not.toThrow();
    expect(() => readPdu({ ...event, auth_events: [] })).not.toThrow();
  });

  test('limits the bytes of the canonical form', () => {
    const ofSize = (bytes: number) => {
      const { length } = Buffer.from(JSON.stringify({ ...event, content: { a: '' } }));
      return { ...event, content: { a: 'x'.repeat(bytes - length) } };
    };
    expect(() => readPdu(ofSize(65_536))).not.toThrow();
    expect(() => readPdu(ofSize(65_537))).toThrow(expect.objectContaining({ errcode: 'M_TOO_LARGE' }));
  });
});
