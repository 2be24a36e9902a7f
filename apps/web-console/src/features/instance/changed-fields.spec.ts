import { changedFields } from './changed-fields.js';

test('changedFields has the values of both sides as text, and a dash for none', () => {
  const before = { status: 'Running', ip: '10.0.0.7', tags: [], ready: true };
  const after = { status: 'Stopped', tags: ['db', 'blue'], ready: false, busy: { task: 't-1', action: 'stop' } };
  expect(changedFields({ before, after }).map((field) => Object.values(field))).toEqual([
    ['status', 'Running', 'Stopped'],
    ['ip', '10.0.0.7', '–'],
    ['tags', '–', 'db, blue'],
    ['ready', 'true', 'false'],
    ['busy', '–', '{"task":"t-1","action":"stop"}'],
  ]);
  expect(changedFields({})).toEqual([]);
});
