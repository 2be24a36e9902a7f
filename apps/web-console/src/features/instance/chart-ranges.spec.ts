import { HISTORY_RANGES } from '@headgate/api-contracts';
import { isRange, isStepRange, ranges, scaleLabels } from './chart-ranges.js';

const FROM = Date.UTC(2026, 0, 5, 12);

test('has every range of the service, and parts of the last hour', () => {
  expect(Object.keys(ranges())).toEqual(expect.arrayContaining([...HISTORY_RANGES]));
  expect(HISTORY_RANGES.filter((name) => !isStepRange(name))).toEqual(['1h']);
  expect(['5m', '30d', '90d', '', 'toString'].filter(isRange)).toEqual(['5m', '30d']);
});

test('up to an hour is counted back from now', () => {
  expect(scaleLabels(ranges()['1h'], FROM, FROM + ranges()['1h'].ms)).toEqual(['1 hour ago', 'Now']);
});

test.each(['en-US', 'de', 'ja'])(
  'a longer one has times in the language of the reader (%s), at equal distances',
  (locale) => {
    const { ms } = ranges()['30d'];
    const dates = [0, 0.25, 0.5, 0.75].map((share) =>
      new Date(FROM + share * ms).toLocaleDateString(locale, { month: 'short', day: 'numeric' }),
    );
    expect(scaleLabels(ranges()['30d'], FROM, FROM + ms, locale)).toEqual([...dates, 'Now']);
  },
);

test('a week has days, and a day has hours', () => {
  const labels = (name: '24h' | '7d') =>
    scaleLabels(ranges()[name], FROM, FROM + ranges()[name].ms, 'en-US').slice(0, -1);
  for (const label of labels('24h')) expect(label).toMatch(/^\d\d:\d\d [AP]M$/);
  for (const label of labels('7d')) expect(label).toMatch(/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)$/);
  expect(new Set(labels('7d')).size).toBe(4);
});
