import { buildStoppedVm, buildVm } from '../../testing/build-vm.js';
import { nodeKey, nodeLoads } from './node-loads.js';

test('adds up the resources of the VMs of each node, and ignores stopped VMs', () => {
  const loads = nodeLoads([
    buildVm({ name: 'a', cpu: 2, mem: '4Gi' }),
    buildVm({ name: 'b', cpu: 1, mem: '512Mi' }),
    buildVm({ name: 'c', context: 'lab' }),
    buildStoppedVm({ name: 'd' }),
  ]);
  expect(loads.get(nodeKey({ context: 'prod', node: 'node-1' }))).toEqual({
    guests: 2,
    cpus: 3,
    bytes: 4.5 * 1024 ** 3,
  });
  expect(loads.get(nodeKey({ context: 'lab', node: 'node-1' }))?.guests).toBe(1);
  expect(loads.size).toBe(2);
});
