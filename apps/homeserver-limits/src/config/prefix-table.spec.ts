import { BlockList } from 'node:net';
import { entryProblem, isWithin, PrefixTable } from './prefix-table.js';

describe('PrefixTable', () => {
  const table = new PrefixTable([
    '192.0.2.7',
    '198.51.100.0/24',
    '203.0.113.64/26',
    '2001:db8:1::/48',
    '2001:db8:2::5',
    '::ffff:10.1.0.0/112',
  ]);

  test.each([
    ['192.0.2.7', true],
    ['192.0.2.8', false],
    ['198.51.100.255', true],
    ['198.51.101.0', false],
    ['203.0.113.63', false],
    ['203.0.113.64', true],
    ['203.0.113.127', true],
    ['203.0.113.128', false],
    ['::ffff:192.0.2.7', true],
    ['::ffff:c000:207', true],
    ['2001:db8:1:ffff::1', true],
    ['2001:DB8:1::', true],
    ['2001:db8:2::5', true],
    ['2001:db8:2:0:0:0:0:5%eth0', true],
    ['2001:db8:2::6', false],
    ['10.1.255.255', true],
    ['10.2.0.0', false],
    ['', false],
    ['unknown', false],
  ])('of %s says %s', (address, expected) => expect(table.has(address)).toBe(expected));

  test('agrees with the list of Node on random networks', () => {
    let state = 7;
    const random = (below: number) => (state = (state * 48_271) % 2_147_483_647) % below;
    const v4 = () => Array.from({ length: 4 }, (_, index) => (index === 0 ? 10 : random(256))).join('.');
    const v6 = () => `2001:db8:${Array.from({ length: 6 }, () => random(3).toString(16)).join(':')}`;
    for (let round = 0; round < 50; round++) {
      const node = new BlockList();
      const entries = Array.from({ length: 8 }, (_, index) => {
        const isV4 = index % 2 === 0;
        const [address, prefix] = isV4 ? [v4(), 8 + random(25)] : [v6(), 16 + random(113)];
        node.addSubnet(address, prefix, isV4 ? 'ipv4' : 'ipv6');
        return `${address}/${prefix}`;
      });
      const ours = new PrefixTable(entries);
      for (let i = 0; i < 50; i++) {
        const [one, other] = [v4(), v6()];
        expect([entries, one, ours.has(one)]).toEqual([entries, one, node.check(one)]);
        expect([entries, other, ours.has(other)]).toEqual([entries, other, node.check(other, 'ipv6')]);
      }
    }
  });

  test.each([
    ['192.0.2.7', undefined],
    ['2001:db8::/32', undefined],
    ['192.0.2.0/33', 'has a prefix beyond 32'],
    ['2001:db8::/129', 'has a prefix beyond 128'],
    ['0.0.0.0/0', 'denies too many addresses; the shortest prefix is 8'],
    ['::/0', 'denies too many addresses; the shortest prefix is 16'],
    ['::ffff:0.0.0.0/96', 'denies too many addresses; the shortest prefix is 8'],
  ])('%s: %s', (entry, problem) => expect(entryProblem(entry)).toBe(problem));

  test.each([
    '192.0.2',
    '1.2.3.4/',
    '1.2.3.4/a',
    '1.2.3.4/8/9',
    '1.2.3.04',
    'example.org',
    'fe80::1%eth0',
    '/8',
    '-1',
    '１.2.3.4',
  ])('%s is neither an address nor a network', (entry) =>
    expect(entryProblem(entry)).toBe('is neither an address nor a network such as 192.0.2.0/24 or 2001:db8::/32'),
  );
});

describe('isWithin', () => {
  test.each([
    ['192.0.2.1', '192.0.2.0/24', true],
    ['192.0.2.0/24', '192.0.2.1', false],
    ['192.0.2.0/25', '192.0.2.0/25', true],
    ['192.0.3.1', '192.0.2.0/24', false],
    ['::ffff:192.0.2.1', '192.0.2.0/24', true],
    ['2001:db8:1:2::/64', '2001:db8::/32', true],
    ['2001:db8:1:2::/64', '2001:db8:1:3::/64', false],
    ['192.0.2.1', '::/0', false],
    ['192.0.2.1', '0.0.0.0/0', true],
  ])('of %s and %s is %s', (inner, outer, expected) => expect(isWithin(inner, outer)).toBe(expected));
});
