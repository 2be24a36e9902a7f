import { chooseTarget, type NodeObject } from './migration-target.js';

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
  test('leaves the choice among nodes of the same CPU vendor to the scheduler', () => {
    expect(chooseTarget(nodes, 'a', undefined)).toEqual({ 'cpu-vendor.node.kubevirt.io/Intel': 'true' });
  });

  test("pins to the target by its own host name, which need not be the node's name", () => {
    expect(chooseTarget(nodes, 'a', 'b')).toEqual({ 'kubernetes.io/hostname': 'b.host' });
  });

  test.each([
    ['z', 'NODE_NOT_FOUND', /no node named z/],
    ['a', 'WRONG_STATE', /runs on a already/],
    ['c', 'WRONG_STATE', /AMD.*Intel/],
    ['d', 'WRONG_STATE', /takes no guests/],
    ['e', 'WRONG_STATE', /takes no guests/],
  ])('refuses the target %s', (target, code, message) => {
    expect(() => chooseTarget(nodes, 'a', target)).toThrow(
      expect.objectContaining({ code, message: expect.stringMatching(message) }),
    );
  });

  test('refuses when there is no other node to go to', () => {
    expect(() => chooseTarget(nodes, 'c', undefined)).toThrow(/no other node with a CPU of AMD/);
  });
});
