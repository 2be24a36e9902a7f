import { RpcLibvirt } from '../rpc/rpc-libvirt.js';
import { connectionContract } from '../testing/connection.contract.js';
import { TEST_URI, whyLibvirtIsUnavailable } from '../testing/libvirt-under-test.js';
import { VirshConnection } from '../virsh/virsh-connection.js';

const missing = await whyLibvirtIsUnavailable();

if (missing === undefined) {
  connectionContract('libvirt over its RPC protocol', () => new RpcLibvirt({ uri: TEST_URI }));
  connectionContract('libvirt through virsh', () => new VirshConnection({ uri: TEST_URI }));
} else {
  test.skip(`keeps the contract of its port: skipped, ${missing}`, () => undefined);
}
