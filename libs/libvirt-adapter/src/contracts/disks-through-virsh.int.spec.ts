import { libvirtContracts } from '../testing/libvirt-contracts.contract.js';
import { TEST_URI } from '../testing/libvirt-under-test.js';
import { VirshConnection } from '../virsh/virsh-connection.js';

await libvirtContracts('libvirt through virsh', 'disks', () => new VirshConnection({ uri: TEST_URI }));
