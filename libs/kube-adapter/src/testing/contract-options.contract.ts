/** KubeVirt keeps no earlier output of the serial line; a newline makes the guest print its prompt. */
export const consoles = { greeting: /login: /, wake: '\r' };
export const TIMEOUT_MS = 60_000;
export { NEVER_AVAILABLE as UNAVAILABLE } from '../cluster-suite/requirements.js';
/** CDI copies the disk of a VM from its image. */
export const images = { copies: true };
/**
 * Two nodes with the same CPU vendor, so that every guest can migrate to the other one. One of them has what VMs can be
 * placed on.
 */
export const cluster = {
  nodes: [
    { name: 'node-a', cpuManager: true, resources: { 'hugepages-2Mi': '8Gi', 'example.org/gpu': '1' } },
    { name: 'node-b' },
  ],
  permittedHostDevices: {
    pciHostDevices: [
      { pciVendorSelector: '10DE:1EB8', resourceName: 'example.org/gpu' },
      { pciVendorSelector: '8086:1563', resourceName: 'example.org/nic' },
    ],
  },
};
