import { buildContainer, buildVm, withPhase, withStatus } from '@headgate/testing';
import { nodePromises } from './node-promises.js';

const entry = (instance: ReturnType<typeof buildVm> | ReturnType<typeof buildContainer>) => ({
  instance,
  stale: false,
});
const GIB = 1024 ** 3;

test('adds up the instances that occupy a node, VMs and containers, of one context', () => {
  const size = { cpu: 2, memoryBytes: 4 * GIB };
  const vm = buildVm({ ref: { context: 'lab', name: 'web' }, ...size });
  const elsewhere = buildVm({ ref: { context: 'other', name: 'web' }, ...size });
  const container = { ...buildContainer({ ref: { context: 'lab' } }), cpu: 1, memoryBytes: GIB };
  const promises = nodePromises('lab', [
    entry(withStatus(vm, 'Running', 'n1')),
    entry(withStatus({ ...vm, ref: { ...vm.ref, name: 'paused' } }, 'Paused', 'n1')),
    entry(withStatus(elsewhere, 'Running', 'n1')),
    entry(withPhase(container, 'Running', 'n1')),
    entry({ ...withStatus(vm, 'Stopped'), node: 'n1' }),
  ]);
  expect([...promises]).toEqual([['n1', { virtualCpus: 4, cpus: 1, memoryBytes: 9 * GIB, instances: 3 }]]);
});
