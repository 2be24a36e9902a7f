import { buildVm } from '../../testing/build-vm.js';
import { SortedEntries } from './sorted-entries.js';

const vm = (name: string, context = 'prod') => buildVm({ name, context });

describe('SortedEntries', () => {
  let entries: SortedEntries<ReturnType<typeof vm>>;
  const names = (): string[] => entries.list().map(({ name, context }) => `${name}@${context}`);
  beforeEach(() => {
    entries = new SortedEntries();
    entries.reset([vm('web-10'), vm('web-2'), vm('web-2', 'lab'), vm('db')]);
  });

  test('sorts names in natural order, and equal names by context', () =>
    expect(names()).toEqual(['db@prod', 'web-2@lab', 'web-2@prod', 'web-10@prod']));

  test('inserts a new entry in order, and updates an entry in place', () => {
    entries.put(vm('web-3'));
    entries.put({ ...vm('db'), status: 'Paused' });
    expect(names()).toEqual(['db@prod', 'web-2@lab', 'web-2@prod', 'web-3@prod', 'web-10@prod']);
    expect(entries.list()[0]?.status).toBe('Paused');
  });

  test('removes only the given entry', () => {
    entries.remove(vm('web-2').ref);
    entries.remove('vm/prod/tailvm/never-was');
    expect(names()).toEqual(['db@prod', 'web-2@lab', 'web-10@prod']);
  });

  test('distinguishes names with the same natural order', () => {
    entries.reset([vm('web-02'), vm('web-2')]);
    entries.remove(vm('web-02').ref);
    expect(names()).toEqual(['web-2@prod']);
  });
});
