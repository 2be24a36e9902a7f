import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DOMAIN_VARIANTS } from '../testing/domain-variants.js';
import { ownDomainXml } from '../testing/domain-xml.js';
import { LibvirtUnderTest, TEST_URI, whyLibvirtIsUnavailable } from '../testing/libvirt-under-test.js';
import { probeDiskIo } from '../storage/disk-io.js';
import { describeHost } from '../host/host.js';
import { GuestNetwork } from '../network/guest-network.js';
import { VirshConnection } from '../virsh/virsh-connection.js';
import type { DomainSpec } from './domain-spec.js';

const run = promisify(execFile);
const missing = await whyLibvirtIsUnavailable();
const describeWithLibvirt = missing === undefined ? describe : describe.skip;
const hasValidator = await run('xmllint', ['--version']).then(
  () => true,
  () => false,
);

const SCHEMA = '/usr/share/libvirt/schemas/domain.rng';

describeWithLibvirt(`the XML of a new domain${missing === undefined ? '' : `: skipped, ${missing}`}`, () => {
  let libvirt: LibvirtUnderTest;
  const connection = new VirshConnection({ uri: TEST_URI });

  beforeEach(async () => {
    libvirt = await LibvirtUnderTest.open();
  });
  afterEach(() => libvirt.close());

  const file = async (name: string, content: Buffer): Promise<string> => {
    const path = join(libvirt.sharedDir, name);
    await writeFile(path, content);
    await chmod(path, 0o666);
    return path;
  };

  const emptyImage = async (name: string): Promise<string> => {
    const path = await file(name, Buffer.alloc(0));
    await run('qemu-img', ['create', '-q', '-f', 'qcow2', path, '1M']);
    return path;
  };

  /** The variant with files of this machine, as far as this machine can run it. */
  const onThisMachine = async (variant: Partial<DomainSpec>): Promise<Partial<DomainSpec>> => {
    const host = await describeHost(connection, new GuestNetwork(connection), () => Promise.resolve('tcg'));
    const name = libvirt.freshName();
    return {
      ...variant,
      name,
      uuid: randomUUID(),
      features: { ...(variant.features ?? host.features), watchdog: host.features.watchdog },
      disk: { path: await file('disk.img', Buffer.alloc(1024 ** 2)), format: 'raw' },
      ...(variant.installer !== undefined && { installer: await emptyImage('installer.qcow2') }),
      ...(variant.seed !== undefined && { seed: await file('seed.iso', Buffer.alloc(2048)) }),
      ...(variant.nvram !== undefined && { nvram: join(libvirt.sharedDir, 'nvram.fd') }),
      network: variant.network === undefined ? undefined : host.network,
      serial: { socket: join(libvirt.sharedDir, 'serial.sock'), log: join(libvirt.sharedDir, 'serial.log') },
      diskIo: variant.diskIo
        ? await probeDiskIo(libvirt.sharedDir, {
            createTemporaryFolder: async () => {
              const folder = join(libvirt.dataDir, name);
              await run('mkdir', ['-p', folder]);
              return folder;
            },
          })
        : {},
    };
  };

  (hasValidator ? test.each : test.skip.each)(Object.entries(DOMAIN_VARIANTS))(
    'of %s follows the schema of libvirt',
    async (_title, variant) => {
      const path = await file('domain.xml', Buffer.from(ownDomainXml(await onThisMachine(variant))));
      await run('xmllint', ['--noout', '--relaxng', SCHEMA, path]);
    },
  );

  test.each(Object.entries(DOMAIN_VARIANTS))('of %s is accepted by libvirt and by QEMU', async (_title, variant) => {
    const overrides = await onThisMachine(variant);
    await libvirt.define(ownDomainXml(overrides));
    await libvirt.virsh.run(['start', '--paused', overrides.name ?? ''], { timeoutMs: 60_000 });
    expect((await libvirt.virsh.run(['domstate', overrides.name ?? ''])).trim()).toBe('paused');
  });
});
