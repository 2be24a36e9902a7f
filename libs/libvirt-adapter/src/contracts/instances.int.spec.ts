import { libvirtContracts } from '../testing/libvirt-contracts.contract.js';

await libvirtContracts('libvirt', 'instances');
