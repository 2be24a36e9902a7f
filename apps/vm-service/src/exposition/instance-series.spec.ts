import { buildContainer, buildVm, withStatus } from '@headgate/testing';
import { InstanceSeries } from './instance-series.js';
import { createSeries } from './series.js';

describe('InstanceSeries', () => {
  test('renders the lines that prom-client would, also for odd labels', async () => {
    const series = createSeries();
    const folder = 'prod/a "b"\\c\nd';
    const vm = { ...withStatus(buildVm(), 'Running'), node: 'node "1"' };
    const { ref, backend } = vm;
    const labels = {
      name: ref.name,
      kind: ref.kind,
      backend,
      context: ref.context,
      namespace: ref.namespace,
      pool: folder,
    };
    series.info.set({ ...labels, node: vm.node, template: 'false' }, 1);
    series.running.set(labels, 1);
    series.ready.set(labels, Number(vm.ready));
    series.cpuCores.set(labels, vm.cpu);
    series.memoryBytes.set(labels, vm.memoryBytes);
    const text = await series.registry.metrics();
    const lines = new InstanceSeries().linesOf({ instance: vm, stale: false, folder });
    expect(lines).toEqual(text.split('\n').filter((line) => line.startsWith('svc_instance_')));
    expect(lines).toHaveLength(5);
  });

  test('leaves out the node of an instance that is not running', () => {
    const stopped = { ...withStatus(buildVm(), 'Stopped'), node: 'node-1' };
    const [info, running] = new InstanceSeries().linesOf({ instance: stopped, stale: false });
    expect([info, running]).toEqual([expect.stringContaining('pool="",node=""'), expect.stringMatching(/ 0$/)]);
  });

  test('renders an entry once, and another entry of the same instance again', () => {
    const series = new InstanceSeries();
    const entry = { instance: buildContainer(), stale: false };
    expect(series.linesOf(entry)).toBe(series.linesOf(entry));
    expect(series.linesOf({ ...entry, folder: 'prod' })[0]).toContain('pool="prod"');
  });
});
