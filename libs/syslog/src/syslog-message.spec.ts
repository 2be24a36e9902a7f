import { buildEntry } from './testing/entries.js';
import { parseMessage } from './testing/parse-message.js';
import { entryMessage, lossMessage, MAX_MESSAGE_BYTES, type SyslogSender } from './syslog-message.js';

const SENDER: SyslogSender = { facility: 'authpriv', hostname: 'host.example.org', processId: 42 };
const HOSTILE = '\\"]\n\r\0\u0085\u2028\u202e[x@1 a="b"] \u{1F600}\ud800';

describe('a message of syslog', () => {
  test('has the fields of the entry as structured data', () => {
    expect(parseMessage(entryMessage(SENDER, buildEntry(7)))).toEqual({
      priority: 10 * 8 + 6,
      time: '2026-01-02T03:04:05.678Z',
      host: 'host.example.org',
      app: 'headgate',
      process: '42',
      id: 'action',
      data: {
        number: '7',
        caller: 'ann',
        address: '192.0.2.7',
        action: 'stop',
        route: 'POST /api/vms/:ns/:name/stop',
        ref: 'vm/lab/default/db',
        outcome: 'ok',
        hash: 'a'.repeat(64),
      },
      text: 'ann stop vm/lab/default/db ok',
    });
  });

  test.each([
    ['ok', 86],
    ['error', 85],
    ['denied', 84],
  ] as const)('is more severe when the outcome is %s', (outcome, priority) => {
    expect(parseMessage(entryMessage(SENDER, buildEntry(1, { outcome }))).priority).toBe(priority);
  });

  test.each(['caller', 'action', 'route', 'ref', 'code', 'token', 'address', 'message', 'time'] as const)(
    'takes no line, parameter or element out of a hostile %s',
    (field) => {
      const parsed = parseMessage(entryMessage(SENDER, buildEntry(1, { [field]: HOSTILE })));
      expect(Object.keys(parsed.data)).toEqual(expect.arrayContaining(['number', 'hash', 'outcome']));
      expect(parsed.data['number']).toBe('1');
      if (field === 'caller') expect(parsed.data['caller']).toBe('\\"]      [x@1 a="b"] \u{1F600}\ufffd');
      if (field === 'time') expect(parsed.time).toBe('-');
    },
  );

  test('is never longer than any server accepts, and never ends in half a character', () => {
    for (const filler of ['\\', '\u{1F600}', 'ä', 'a', '"']) {
      const long = filler.repeat(3000);
      const entry = buildEntry(Number.MAX_SAFE_INTEGER, {
        caller: long,
        action: long,
        route: `${long}x`,
        ref: long,
        message: long,
        code: 'INSUFFICIENT_RESOURCES',
        token: 'abcdefghij',
        status: 403,
        address: '2001:db8:1111:2222:3333:4444:5555:6666',
      });
      const message = entryMessage({ ...SENDER, hostname: 'h'.repeat(400) }, entry);
      expect(Buffer.byteLength(message)).toBeLessThanOrEqual(MAX_MESSAGE_BYTES);
      expect(message.isWellFormed()).toBe(true);
      expect(parseMessage(message).data['hash']).toBe('a'.repeat(64));
    }
  });

  test('has a host name in ASCII, or none', () => {
    expect(parseMessage(entryMessage({ ...SENDER, hostname: 'a b\nü' }, buildEntry(1))).host).toBe('ab');
    expect(parseMessage(entryMessage({ ...SENDER, hostname: '' }, buildEntry(1))).host).toBe('-');
  });

  test('reports entries that were not sent', () => {
    expect(
      parseMessage(lossMessage(SENDER, '2026-01-02T03:04:05.678Z', { after: 3, through: 9, lost: 5 })),
    ).toMatchObject({
      priority: 84,
      id: 'lost',
      data: { after: '3', through: '9', lost: '5' },
      text: '5 entries of the journal, after 3 and through 9, were not sent.',
    });
  });
});
