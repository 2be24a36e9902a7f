import { paths } from '../../../shared/location/paths.js';
import { buildVm } from '../../../testing/build-vm.js';
import { instanceAt, MOST_PLACES, placeOf, storedPlaces, withPlace } from './recent-places.js';

describe('the recent places', () => {
  const vm = buildVm({ context: 'a/b', name: 'web 1' });

  test('are pages, and instances without their tab', () => {
    expect(placeOf('/nodes', ['/nodes'])).toBe('/nodes');
    expect(placeOf('/tasks/1', ['/nodes'])).toBeUndefined();
    expect(placeOf(paths.vm(vm, 'console'), [])).toBe(placeOf(paths.vm(vm), []));
  });

  test('lead to the instance as long as it exists', () => {
    const place = placeOf(paths.vm(vm), []) as string;
    expect(instanceAt(place, { vms: [vm], containers: [] })).toBe(vm);
    expect(instanceAt(place, { vms: [], containers: [] })).toBeUndefined();
    expect(instanceAt('/nodes', { vms: [vm], containers: [] })).toBeUndefined();
  });

  test('begin with the latest, each once, and are limited', () => {
    expect(withPlace(['/a', '/b'], '/b')).toEqual(['/b', '/a']);
    const many = Array.from({ length: MOST_PLACES }, (_, index) => `/${index}`);
    expect(withPlace(many, '/new')).toHaveLength(MOST_PLACES);
  });

  test.each([null, 'x', {}, 1])('are none when %j is stored', (stored) => expect(storedPlaces(stored)).toEqual([]));
  test('leave out anything stored that is no text', () => expect(storedPlaces(['/a', 1, null])).toEqual(['/a']));
});
