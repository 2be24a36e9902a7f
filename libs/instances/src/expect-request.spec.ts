import { DomainError, type DirectBulkRequest } from '@headgate/domain-contracts';
import { expectRequest } from './expect-request.js';

const NOW = Date.UTC(2026, 2, 29, 0, 59);
const withTime = (at: string): DirectBulkRequest => expectRequest({ action: 'start', at }, NOW);

describe('the time of a bulk order', () => {
  test.each([
    ['2026-03-29T01:00:00Z', '2026-03-29T01:00:00.000Z'],
    ['2026-03-29T01:00Z', '2026-03-29T01:00:00.000Z'],
    // The clocks of Central Europe change at 01:00Z: 01:59+01:00 is followed by 03:00+02:00.
    ['2026-03-29T03:00:00+02:00', '2026-03-29T01:00:00.000Z'],
    ['2026-03-29T02:00:00+01:00', '2026-03-29T01:00:00.000Z'],
    ['2026-03-28T19:30:00.5-05:30', '2026-03-29T01:00:00.500Z'],
    ['2027-03-29T00:00:00Z', '2027-03-29T00:00:00.000Z'],
  ])('%s is %s', (given, at) => {
    expect(withTime(given)).toEqual({ action: 'start', at });
  });

  test.each([
    ['2026-03-29T00:59:00Z', /not in the future; the clock of the service is at 2026-03-29T00:59:00\.000Z/],
    ['2020-01-01T00:00:00Z', /not in the future/],
    ['2026-03-29T02:30:00', /with Z or an offset/],
    ['2026-03-30', /with Z or an offset/],
    ['tomorrow', /"tomorrow" is no time/],
    ['', /is no time/],
    ['2026-13-45T99:00:00Z', /is no time/],
    ['2027-04-01T00:00:00Z', /more than 366 days away/],
    ['9999-12-31T23:59:59Z', /more than 366 days away/],
  ])('refuses %s', (at, message) => {
    expect(() => withTime(at)).toThrow(message);
    expect(() => withTime(at)).toThrow(DomainError);
  });

  test('folder is for its action only, which needs it', () => {
    expect(expectRequest({ action: 'folder', folder: 'prod' }, NOW)).toEqual({ action: 'folder', folder: 'prod' });
    expect(() => expectRequest({ action: 'folder' }, NOW)).toThrow('folder is missing; folder needs the path of one.');
    for (const action of ['unfolder', 'tag', 'start'] as const)
      expect(() => expectRequest({ action, folder: 'prod', ...(action === 'tag' && { tag: 'x' }) }, NOW)).toThrow(
        `${action} takes no folder.`,
      );
  });

  test('waitReady is only for actions after which an instance becomes ready', () => {
    for (const action of ['start', 'restart'] as const)
      expect(expectRequest({ action, waitReady: true }, NOW)).toEqual({ action, waitReady: true });
    for (const action of ['stop', 'pause', 'migrate', 'delete'] as const)
      expect(() => expectRequest({ action, waitReady: true }, NOW)).toThrow(/only possible with start and restart/);
  });
});
