import { buildVm } from '../../../testing/build-vm.js';
import { eventQuery } from './event-query.js';

const web = buildVm({ name: 'web-1' });
const ENTRIES = [buildVm({ name: 'web-10' }), web];

describe('eventQuery', () => {
  test.each([
    ['stop', { action: 'stop' }],
    [' add to folder ', { action: 'add to folder' }],
    ['WEB-1', { ref: web.ref }],
    ['stop web-1', { action: 'stop', ref: web.ref }],
    ['add tag web-1', { action: 'add tag', ref: web.ref }],
    ['stop web', { action: 'stop web' }],
    ['100%_', { action: '100%_' }],
  ])('%s', (text, query) => expect(eventQuery(text, ENTRIES)).toEqual(query));

  test.each(['', '  ', 'st', ' x ', 'x'.repeat(101)])('means none for "%s"', (text) =>
    expect(eventQuery(text, ENTRIES)).toBeUndefined(),
  );
});
