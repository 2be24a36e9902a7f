import { InventoryRecorder, recordingReporter } from '@headgate/testing';
import { HttpServer } from '@headgate/downloads/testing';
import { openShell, ROOT_LOGIN, shell } from '../testing/guest-shell.js';
import { LibvirtUnderTest, TEST_URI, whyLibvirtIsUnavailable } from '../testing/libvirt-under-test.js';
import { TINY_ENTRY, tinyGuest } from '../testing/tiny-guest.js';
import { VirshConnection } from '../virsh/virsh-connection.js';
import { GuestNetwork } from './guest-network.js';

const MIB = 1024 ** 2;
const BOOT_MS = 240_000;

async function whyNoNetwork(): Promise<string | undefined> {
  try {
    await new GuestNetwork(new VirshConnection({ uri: TEST_URI })).ensure();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

const missing = (await whyLibvirtIsUnavailable()) ?? (await whyNoNetwork());
const describeWithNetwork = missing === undefined ? describe : describe.skip;

describeWithNetwork(`the network of a guest${missing === undefined ? '' : `: skipped, ${missing}`}`, () => {
  let libvirt: LibvirtUnderTest;
  let loopback: HttpServer;
  let reachable: HttpServer | undefined;
  let image: string;

  beforeAll(async () => void (image = await tinyGuest()), BOOT_MS);
  beforeEach(async () => {
    [libvirt, loopback] = [await LibvirtUnderTest.open(), await HttpServer.listen()];
    loopback.serve('/whoami', 'admin');
  });
  afterEach(async () => {
    await loopback?.close();
    await reachable?.close();
    await libvirt?.close();
  }, 60_000);

  test(
    "does not lead to ports on the host's loopback address, even for root with routes of its own",
    async () => {
      const backend = libvirt.backend({ tinyGuest: () => Promise.resolve(image) });
      const recorder = InventoryRecorder.over(backend.require('inventory'));
      const ref = libvirt.refOf(libvirt.freshName());
      const spec = { ref, cpu: 1, memoryBytes: 192 * MIB, diskBytes: 128 * MIB, start: true, cloudInit: ROOT_LOGIN };
      const creation = await backend
        .require('provisioning')
        .create({ ...spec, source: { kind: 'image', entry: TINY_ENTRY } });
      await creation.remaining?.(recordingReporter());
      await recorder.untilVm(ref, ({ status }) => status === 'Running');
      const stream = await openShell(backend.require('consoles'), ref);
      await shell(stream, 'until ip -4 addr show eth0 | grep -q inet; do usleep 50000; done');
      const gateway = await shell(stream, "ip route | awk '/^default/ { print $3 }'");

      const fetch = (host: string, port: number): Promise<string> =>
        shell(
          stream,
          `printf 'GET /whoami HTTP/1.0\\r\\nHost: 127.0.0.1\\r\\n\\r\\n' | nc -w 5 ${host} ${port} || echo failed`,
        );
      for (const host of ['10.0.2.2', gateway]) expect(await fetch(host, loopback.port)).toContain('failed');
      await shell(
        stream,
        `echo 1 > /proc/sys/net/ipv4/conf/all/route_localnet; ip addr del 127.0.0.1/8 dev lo; ip route add 127.0.0.1 via ${gateway} dev eth0`,
      );
      expect(await fetch('127.0.0.1', loopback.port)).toContain('failed');
      expect(loopback.requests).toEqual([]);

      // The guest does have a working network: the same request succeeds at an address that is not loopback.
      reachable = await HttpServer.listen(gateway);
      reachable.serve('/whoami', 'reached');
      // A guest on a busy machine may give up before the answer arrives.
      while (!(await fetch(gateway, reachable.port)).includes('reached'));

      stream.destroy();
      await recorder.stop();
      await backend.require('provisioning').delete(ref);
    },
    BOOT_MS,
  );
});
