import { fieldsOf, momentOf } from './moment-fields.js';

const NOW = Date.parse('2026-02-01T12:00:00Z');

describe('the fields of a moment', () => {
  test('are the day and the minute in the time zone of the browser, and lead back to the moment', () => {
    const at = new Date(2026, 0, 31, 13, 5, 59).toISOString();
    expect(fieldsOf(at)).toEqual({ day: '2026-01-31', minute: 13 * 60 + 5 });
    expect(momentOf(fieldsOf(at)!, NOW)).toBe(new Date(2026, 0, 31, 13, 5).toISOString());
  });

  test('are never in the future', () => {
    expect(momentOf({ day: '2999-01-01', minute: 0 }, NOW)).toBe('2026-02-01T12:00:00.000Z');
  });

  test('are none for texts that are no moments', () => {
    expect(fieldsOf('yesterday')).toBeUndefined();
    expect(momentOf({ day: '', minute: 5 }, NOW)).toBeUndefined();
  });
});
