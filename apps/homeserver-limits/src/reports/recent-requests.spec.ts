import type { RuleFacts } from '@headgate/limit-rules';
import { RecentRequests } from './recent-requests.js';

const facts = (user: string): RuleFacts[] => [{ event: 'ring', user, address: '192.0.2.1', source: '192.0.2.1' }];

describe('RecentRequests', () => {
  test('keeps the latest requests with their outcomes, the newest first', () => {
    const recent = new RecentRequests(3, () => 7);
    const ids = ['@a:b', '@b:b', '@c:b', '@d:b'].map((user) => recent.onDecided(facts(user), undefined));
    recent.onSettled(ids[3]!, 'success');
    // The first request is gone; its place belongs to the last one.
    recent.onSettled(ids[0]!, 'forbidden');
    expect([...recent.latest()].map(({ facts: [part], outcome }) => [part?.user, outcome])).toEqual([
      ['@d:b', 'success'],
      ['@c:b', undefined],
      ['@b:b', undefined],
    ]);
  });

  test('is empty at the start', () => expect([...new RecentRequests().latest()]).toEqual([]));
});
