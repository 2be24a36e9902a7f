import { RequestLimit, type RequestLimitName } from './request-limit.js';

const SYNC = '/_matrix/client/v3/sync';
const HERE = { address: '192.0.2.1', source: '192.0.2.1' };

/** Zero: any number. */
function open({ requests = 2, polls = 3, shadow = [] as string[] } = {}) {
  const outcomes: string[] = [];
  const limit = new RequestLimit({
    limits: { concurrent_requests: requests || undefined, concurrent_polls: polls || undefined },
    isShadow: (name) => shadow.includes(name),
    isExempt: ({ address }) => address === '10.0.0.1',
    onGranted: (name: RequestLimitName) => outcomes.push(`${name} granted`),
    onRefused: (name, { key }, isShadow) => outcomes.push(`${name} ${isShadow ? 'shadow' : 'refused'} ${key}`),
  });
  const enter = (target = '/x', caller = HERE, method = 'GET') => limit.enter({ method }, target, caller);
  return { limit, enter, outcomes };
}

describe('RequestLimit', () => {
  test('has a number of places for each source, which are given back', () => {
    const { limit, enter, outcomes } = open();
    const [first, second] = [enter(), enter()];
    expect(() => enter()).toThrow(expect.objectContaining({ rate: 'concurrent_requests', retryAfterMs: 1_000 }));
    const other = enter('/x', { address: '192.0.2.2', source: '192.0.2.2' });
    first();
    const third = enter();
    expect(() => enter()).toThrow();
    for (const leave of [second, third, other]) leave();
    expect(limit.sources).toBe(0);
    expect(outcomes.filter((one) => one === 'concurrent_requests refused 192.0.2.1')).toHaveLength(2);
  });

  test.each([
    [`${SYNC}?since=s1&timeout=30000`, 'GET'],
    [`/_matrix/client/r0/sync?timeout=1&since=s1`, 'GET'],
    ['/_matrix/client/unstable/org.matrix.simplified_msc3575/sync?pos=1&timeout=20000', 'POST'],
    ['/_matrix/client/v3/events?from=a&timeout=5', 'GET'],
  ])('counts the long poll %s apart from other requests', (target, method) => {
    const { enter } = open({ requests: 1, polls: 2 });
    enter();
    enter(target, HERE, method);
    enter(target, HERE, method);
    expect(() => enter(target, HERE, method)).toThrow(expect.objectContaining({ rate: 'concurrent_polls' }));
  });

  test.each([
    SYNC,
    `${SYNC}?timeout=30000`,
    `${SYNC}?since=s1`,
    `${SYNC}?since=s1&timeout=0`,
    `${SYNC}?since=s1&timeout=x`,
    '/_matrix/client/v3/keys/query?since=s1&timeout=30000',
    '/_matrix/client/v3/rooms/sync?since=s1&timeout=30000',
  ])('takes %s for a request', (target) => {
    const { enter } = open({ requests: 1, polls: 0 });
    enter(target);
    expect(() => enter(target)).toThrow(expect.objectContaining({ rate: 'concurrent_requests' }));
  });

  test('bounds nothing without a limit and no exempt callers, and only reports in shadow', () => {
    const { enter, limit } = open({ requests: 0, polls: 1 });
    for (let i = 0; i < 5; i++) enter();
    expect(limit.sources).toBe(0);
    const exempt = open({ requests: 1 });
    for (let i = 0; i < 5; i++) exempt.enter('/x', { address: '10.0.0.1', source: '10.0.0.1' });
    const shadow = open({ requests: 1, shadow: ['concurrent_requests'] });
    const leave = [shadow.enter(), shadow.enter()];
    expect(shadow.outcomes).toEqual(['concurrent_requests granted', 'concurrent_requests shadow 192.0.2.1']);
    for (const one of leave) one();
    expect(shadow.limit.sources).toBe(0);
  });
});
