import { endOf, nameOf } from './refusal-table.js';

describe('a refusal by a deny list', () => {
  test('has the name of its list', () => {
    expect([nameOf('deny:abuse'), nameOf('messages')]).toEqual(['list abuse', 'messages']);
  });

  test('does not end', () => {
    const refusal = { time: '2030-01-01T00:00:00.000Z', rule: 'deny:abuse', reason: 'denied' } as const;
    expect(endOf(refusal, 0)).toBe('does not end');
  });
});
