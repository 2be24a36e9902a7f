import { mayChangeInventory, parseEventLine } from './event-stream.js';

describe('parseEventLine', () => {
  test('parses kind, domain and detail', () => {
    expect(parseEventLine("2026-11-21 09:24:01.028+0000: event 'lifecycle' for domain 'web': Started Booted")).toEqual({
      kind: 'lifecycle',
      domain: 'web',
      detail: 'Started Booted',
    });
  });

  test('parses a domain name that contains quotes and colons', () => {
    expect(parseEventLine("2026-11-21 09:24:01.028+0000: event 'reboot' for domain 'it's: mine': ")?.domain).toBe(
      "it's: mine",
    );
  });

  test('ignores any other line', () => expect(parseEventLine('events received: 0')).toBeUndefined());

  test('recognizes events that change no inventory entry', () => {
    expect(mayChangeInventory({ kind: 'balloon-change', domain: 'web', detail: '' })).toBe(false);
    expect(mayChangeInventory({ kind: 'metadata-change', domain: 'web', detail: '' })).toBe(true);
  });
});
