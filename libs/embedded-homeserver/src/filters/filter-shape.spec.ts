import { canonicalFilter } from './filter-shape.js';

describe('canonicalFilter', () => {
  test('is the same for every spelling of the same filter', () => {
    const one = canonicalFilter({ room: { timeline: { limit: 5, types: ['m.*'] } }, 'x.unknown': 1 });
    expect(canonicalFilter({ 'x.unknown': 1, room: { timeline: { types: ['m.*'], limit: 5 } } })).toBe(one);
    expect(canonicalFilter({})).toBe('{}');
  });

  test.each([
    [{ event_fields: 'type' }],
    [{ event_fields: [1] }],
    [{ event_format: 'xml' }],
    [{ presence: [] }],
    [{ account_data: { types: 'm.*' } }],
    [{ room: 'x' }],
    [{ room: { rooms: '!r:b' } }],
    [{ room: { include_leave: 'yes' } }],
    [{ room: { timeline: [] } }],
    [{ room: { timeline: { limit: 0 } } }],
    [{ room: { timeline: { limit: -1 } } }],
    [{ room: { timeline: { limit: '5' } } }],
    [{ room: { timeline: { limit: 1.5 } } }],
    [{ room: { state: { lazy_load_members: 1 } } }],
    [{ room: { ephemeral: { not_senders: [null] } } }],
    [{ room: { timeline: { limit: 2 ** 53 } } }],
    [{ 'x.unknown': 0.5 }],
  ])('refuses %j', (filter) => {
    expect(() => canonicalFilter(filter)).toThrow(expect.objectContaining({ errcode: 'M_BAD_JSON', status: 400 }));
  });
});
