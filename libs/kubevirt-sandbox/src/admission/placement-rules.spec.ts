import { ApiError, type StatusCause } from '@headgate/kube-sandbox';
import { buildVirtualMachine, simulatedCluster } from '../testing/simulated-cluster.js';
import type { VirtualMachine } from '../types/virtual-machine.js';

const T = 'spec.template.spec';
const NUMA = `${T}.domain.cpu.numa.guestMappingPassthrough`;
const invalid = (field: string, message: string): StatusCause => ({ reason: 'FieldValueInvalid', message, field });

function causesOf(change: (domain: VirtualMachine['spec']['template']['spec']['domain']) => void): unknown {
  const cluster = simulatedCluster({ kubevirtVersion: '1.9' });
  const vm = buildVirtualMachine('web');
  change(vm.spec.template.spec.domain);
  try {
    cluster.create(vm);
    return [];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error.status.details?.causes;
  }
}

describe('the placement of a VM', () => {
  test.each<[title: string, Parameters<typeof causesOf>[0], causes: StatusCause[]]>([
    ['dedicated CPUs', (domain) => (domain.cpu = { dedicatedCpuPlacement: true, isolateEmulatorThread: true }), []],
    [
      'an isolated emulator without them',
      (domain) => (domain.cpu = { isolateEmulatorThread: true }),
      [
        invalid(
          `${T}.domain.cpu.isolateEmulatorThread`,
          'IsolateEmulatorThread should be only set in combination with DedicatedCPUPlacement',
        ),
      ],
    ],
    [
      'three threads',
      (domain) => (domain.cpu = { dedicatedCpuPlacement: true, threads: 3 }),
      [
        invalid(
          `${T}.domain.cpu.dedicatedCpuPlacement`,
          `Not more than two threads must be provided at ${T}.domain.cpu.threads (got 3) when DedicatedCPUPlacement is true`,
        ),
      ],
    ],
    [
      'NUMA nodes without dedicated CPUs and hugepages',
      (domain) => (domain.cpu = { numa: { guestMappingPassthrough: {} } }),
      [
        invalid(NUMA, `${T}.domain.cpu.dedicatedCpuPlacement must be set to true when NUMA topology strategy is set in ${NUMA}`), // prettier-ignore
        invalid(NUMA, `${T}.domain.memory.hugepages must be requested when NUMA topology strategy is set in ${NUMA}`),
      ],
    ],
    ['hugepages', (domain) => (domain.memory = { guest: '2Gi', hugepages: { pageSize: '1Gi' } }), []],
    [
      'memory of less than a page',
      (domain) => (domain.memory = { guest: '512Mi', hugepages: { pageSize: '1Gi' } }),
      [
        invalid(
          `${T}.domain.resources.requests.memory`,
          `${T}.domain.resources.requests.memory '512Mi' must be equal to or larger than page size ${T}.domain.hugepages.size '1Gi'`,
        ),
      ],
    ],
    [
      'memory of one and a half pages',
      (domain) => (domain.memory = { guest: '1536Mi', hugepages: { pageSize: '1Gi' } }),
      [
        invalid(
          `${T}.domain.resources.requests.memory`,
          `${T}.domain.resources.requests.memory '1536Mi' is not a multiple of the page size ${T}.domain.hugepages.size '1Gi'`,
        ),
      ],
    ],
    ['a GPU', (domain) => (domain.devices.gpus = [{ name: 'gpu', deviceName: 'example.org/gpu' }]), []],
    [
      'a host device without the gate',
      (domain) => (domain.devices.hostDevices = [{ name: 'nic', deviceName: 'example.org/nic' }]),
      [invalid(`${T}.HostDevices`, 'Host Devices feature gate is not enabled in kubevirt-config')],
    ],
  ])('with %s has the causes of KubeVirt', (_title, change, causes) => {
    expect(causesOf(change)).toEqual(causes);
  });
});
