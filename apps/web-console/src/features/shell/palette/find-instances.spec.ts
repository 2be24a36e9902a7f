import type { VmView } from '@headgate/api-contracts';
import { buildVm } from '../../../testing/build-vm.js';
import { findInstances } from './find-instances.js';

const named = (...names: string[]): VmView[] => names.map((name) => buildVm({ name }));
const names = (entries: readonly VmView[], text: string, limit = 50): string[] =>
  findInstances(entries, text, limit).instances.map(({ name }) => name);

describe('findInstances', () => {
  test('sorts exact names, beginnings, beginnings of words and parts, each in the order of the entries', () =>
    expect(names(named('aweb', 'db-web', 'web-2', 'web-10', 'web', 'other'), 'WEB')).toEqual([
      'web',
      'web-2',
      'web-10',
      'db-web',
      'aweb',
    ]));

  test('is content with the letters only if nothing else matches', () => {
    expect(names(named('web-01', 'wxb-01'), 'wb1')).toEqual(['web-01', 'wxb-01']);
    expect(names(named('web-01', 'swb1'), 'wb1')).toEqual(['swb1']);
  });

  test('finds names with spaces and signs', () =>
    expect(names(named('My VM (old)', 'a.b_c+d', '[x]'), 'vm (o')).toEqual(['My VM (old)']));

  test('finds several words in the name and the place, of which one is in the name', () => {
    const entries = [
      buildVm({ name: 'web-1', namespace: 'shop', context: 'prod' }),
      buildVm({ name: 'web-1', namespace: 'shop', context: 'stage' }),
      buildVm({ name: 'db-1', namespace: 'web', context: 'prod' }),
    ];
    expect(findInstances(entries, 'web prod', 50).instances).toEqual([entries[0]]);
    expect(names(entries, 'shop prod')).toEqual([]);
  });

  test('returns the best ones up to the limit, and the total', () => {
    const entries = named(...Array.from({ length: 200 }, (_, index) => `a-web-${index}`), 'web');
    const found = findInstances(entries, 'web', 3);
    expect(found.instances.map(({ name }) => name)).toEqual(['web', 'a-web-0', 'a-web-1']);
    expect(found.total).toBe(201);
  });

  test('says whether a name is the text or begins with it', () => {
    expect(findInstances(named('restart-1'), 'restart', 5).startsLikeName).toBe(true);
    expect(findInstances(named('do-restart'), 'restart', 5).startsLikeName).toBe(false);
  });

  test('finds nothing for an empty text', () => expect(findInstances(named('a'), '  ', 5).total).toBe(0));

  test('reads the name of an entry once, however often it is searched', () => {
    let reads = 0;
    const entry = Object.defineProperty(buildVm(), 'name', {
      get: () => {
        reads++;
        return 'web-1';
      },
    });
    for (const text of ['w', 'we', 'web', 'xyz']) findInstances([entry], text, 5);
    expect(reads).toBe(1);
  });
});
