import { mayChangeInventory } from '../connection/domain-events.js';
import { parseEventLine } from './virsh-events.js';

describe('parseEventLine', () => {
  test('parses kind and domain, and recognizes a start', () => {
    expect(parseEventLine("2026-11-21 09:24:01.028+0000: event 'lifecycle' for domain 'web': Started Booted")).toEqual({
      kind: 'lifecycle',
      domain: 'web',
      action: 'Started',
      detail: 'Booted',
      isStart: true,
    });
    expect(
      parseEventLine("2026-11-21 09:24:01.028+0000: event 'lifecycle' for domain 'web': Stopped Destroyed"),
    ).toEqual({ kind: 'lifecycle', domain: 'web', action: 'Stopped', detail: 'Destroyed', isStart: false });
  });

  test('parses a domain name that contains quotes and colons', () => {
    expect(parseEventLine("2026-11-21 09:24:01.028+0000: event 'reboot' for domain 'it's: mine': ")?.domain).toBe(
      "it's: mine",
    );
  });

  test('ignores any other line', () => expect(parseEventLine('events received: 0')).toBeUndefined());

  test('recognizes events that change no inventory entry', () => {
    expect(mayChangeInventory('balloon-change')).toBe(false);
    expect(mayChangeInventory('metadata-change')).toBe(true);
  });
});
