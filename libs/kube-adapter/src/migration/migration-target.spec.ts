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

  describe('with labels that KubeVirt demands', () => {
    const machine = 'machine-type.node.kubevirt.io/q35';
    const without = ['b', 'f', 'g', 'h'].map((name) => node(name, 'Intel'));
    const withLabel = {
      ...without[0]!,
      metadata: { name: 'i', labels: { ...without[0]!.metadata.labels, [machine]: 'true' } },
    };
    const needed = { [machine]: 'true', disk: 'ssd' };

    test('refuses a node that lacks one, and names three of several', () => {
      const many = [nodes[0]!, ...without];
      expect(() => chooseTarget(many, 'a', 'b', needed)).toThrow(
        `b lacks the labels ${machine} and disk=ssd, which the target of the migration needs.`,
      );
      expect(() => chooseTarget(many, 'a', undefined, { [machine]: 'true' })).toThrow(
        `No other node has the labels that the target of the migration needs: b lacks the label ${machine}, f lacks the label ${machine}, g lacks the label ${machine}, and more.`,
      );
    });

    test('is content with one node that has them', () => {
      expect(chooseTarget([nodes[0]!, ...without, withLabel], 'a', undefined, { [machine]: 'true' })).toEqual({
        'cpu-vendor.node.kubevirt.io/Intel': 'true',
      });
    });

    test('names the vendor first: a node of another one may lack any label', () => {
      expect(() => chooseTarget(nodes, 'a', 'c', needed)).toThrow(/AMD.*Intel/);
      expect(() => chooseTarget([nodes[0]!, nodes[2]!], 'a', undefined, needed)).toThrow(/no other schedulable node/);
    });
  });
});
