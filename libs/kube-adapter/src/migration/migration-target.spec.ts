import type { NodeObject } from '../api/object-types.js';
import { chooseTarget } from './migration-target.js';

const node = (name: string, vendor: string, extra: { ready?: boolean; cordoned?: boolean } = {}): NodeObject => ({
  metadata: {
    name,
    labels: {
      [`cpu-vendor.node.kubevirt.io/${vendor}`]: 'true',
      'kubevirt.io/schedulable': 'true',
      'kubernetes.io/hostname': `${name}.host`,
    },
  },
  spec: { unschedulable: extra.cordoned },
  status: { conditions: [{ type: 'Ready', status: extra.ready === false ? 'False' : 'True' }] },
});

const nodes = [
  node('a', 'Intel'),
  node('b', 'Intel'),
  node('c', 'AMD'),
  node('d', 'Intel', { cordoned: true }),
  node('e', 'Intel', { ready: false }),
];

describe('chooseTarget', () => {
  test('lets the scheduler choose among nodes with the same CPU vendor', () => {
    expect(chooseTarget(nodes, 'a', undefined)).toEqual({ 'cpu-vendor.node.kubevirt.io/Intel': 'true' });
  });

  test("selects the target by its hostname label, which may differ from the node's name", () => {
    expect(chooseTarget(nodes, 'a', 'b')).toEqual({ 'kubernetes.io/hostname': 'b.host' });
  });

  test.each([
    ['z', 'NODE_NOT_FOUND', /no node named z/],
    ['a', 'WRONG_STATE', /already runs on a/],
    ['c', 'WRONG_STATE', /AMD.*Intel/],
    ['d', 'WRONG_STATE', /is not schedulable/],
    ['e', 'WRONG_STATE', /is not schedulable/],
  ])('refuses the target %s', (target, code, message) => {
    expect(() => chooseTarget(nodes, 'a', target)).toThrow(
      expect.objectContaining({ code, message: expect.stringMatching(message) }),
    );
  });

  test('refuses when there is no other node', () => {
    expect(() => chooseTarget(nodes, 'c', undefined)).toThrow(/no other schedulable node with a CPU of AMD/);
  });
});
