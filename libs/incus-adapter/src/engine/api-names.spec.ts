import { isInstanceName } from '@headgate/domain-contracts';
import { snapshotNameOf } from './api-names.js';

test('keeps a name of a snapshot that the API has', () => {
  expect(snapshotNameOf('box-20261128164029')).toBe('box-20261128164029');
});

test.each(['A:b', 'ü', '..', '%2F', 'x'.repeat(64), 'snap_0'])(
  'gives the snapshot "%s" a name that the API has',
  (name) => {
    expect(isInstanceName(snapshotNameOf(name))).toBe(true);
    expect(snapshotNameOf(name)).toMatch(/-[0-9a-f]{8}$/);
  },
);

test('keeps names apart that have the same letters', () => {
  expect(new Set(['a:b', 'a_b', 'A-B', 'a-b'].map(snapshotNameOf)).size).toBe(4);
});
