import type { HostDevice, HostTopology } from '../model/host-resources.js';

/** Lists the CPUs, the NUMA nodes, the hugepages and the devices of the hosts on which VMs can be placed. */
export abstract class HostResources {
  /** By node. @throws DomainError BACKEND_UNREACHABLE */
  abstract topology(): Promise<readonly HostTopology[]>;

  /**
   * Every device that could be passed through, and those that can't with the reason, by name.
   * @throws DomainError BACKEND_UNREACHABLE
   */
  abstract devices(): Promise<readonly HostDevice[]>;
}
