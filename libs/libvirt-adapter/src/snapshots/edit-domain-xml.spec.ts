import { describeDomain } from '../domain-xml/domain-description.js';
import { INSTANCE_XMLNS, NO_METADATA, type InstanceMetadata } from '../domain-xml/instance-metadata.js';
import { cloneDomainXml } from '../cloning/clone-xml.js';
import { editDomainXml } from './edit-domain-xml.js';

const UUID = '2c749204-0000-4000-8000-000000000001';
const COPY = '5e5ba6a8-0000-4000-8000-000000000002';

/** As libvirt prints it, with an element of another program. */
const XML = `<domain type='kvm'>
  <name>web</name>
  <uuid>${UUID}</uuid>
  <genid>43dc0cf8-809b-4adb-9bea-a9abb5f3d90e</genid>
  <metadata>
    <other:note xmlns:other="https://example.org/other">a  b<other:disk>x</other:disk></other:note>
    <headgate:instance xmlns:headgate="${INSTANCE_XMLNS}" owner="${UUID}" template="yes">
      <tag>prod</tag>
      <volume pool="headgate" name="web.qcow2" role="disk"/>
    </headgate:instance>
  </metadata>
  <os>
    <nvram template='/usr/share/OVMF/OVMF_VARS_4M.fd'>/pool/web-nvram.fd</nvram>
  </os>
  <devices>
    <disk type='file' device='disk'>
      <source file='/pool/web.qcow2'/>
      <backingStore type='file'><source file='/pool/base.qcow2'/><backingStore/></backingStore>
      <target dev='vda' bus='virtio'/>
    </disk>
    <disk type='file' device='cdrom'>
      <source file='/pool/web-cdrom.qcow2'/>
      <target dev='sda' bus='sata'/>
      <readonly/>
    </disk>
    <disk type='file' device='disk'>
      <source file='/pool/web-seed.iso'/>
      <target dev='vdb' bus='virtio'/>
      <readonly/>
    </disk>
    <interface type='network'>
      <mac address='52:54:00:aa:bb:cc'/>
      <source network='default'/>
    </interface>
    <serial type='unix'>
      <source mode='bind' path='/pool/${UUID}.serial'/>
      <log file='/pool/web-serial.log' append='on'/>
    </serial>
  </devices>
</domain>
`;

const metadata: InstanceMetadata = {
  ...NO_METADATA,
  owner: UUID,
  snapshots: [
    {
      name: 'one',
      createdAt: '2026-01-01T00:00:00.000Z',
      isDeleting: false,
      disks: [{ target: 'vda', name: 'web.qcow2' }],
    },
  ],
  pending: {
    kind: 'restore',
    service: 'service',
    snapshot: 'one',
    startedAt: '2026-01-01T00:00:00.000Z',
    wasRunning: true,
    disks: [{ target: 'vda', name: 'new.qcow2', replaced: 'web.qcow2' }],
    tpm: 'state',
  },
};

test('replaces the file of one disk, the variables and its own metadata, and nothing else', () => {
  const disks = new Map([['vda', `/pool/a'"&<b.qcow2`]]);
  const edited = editDomainXml(XML, { disks, metadata, nvram: '/pool/new.fd' });
  const described = describeDomain(edited);
  expect(described.disks.map(({ path }) => path)).toEqual([
    `/pool/a'"&<b.qcow2`,
    '/pool/web-cdrom.qcow2',
    '/pool/web-seed.iso',
  ]);
  expect(described.disks[0]?.backingPaths).toEqual([]);
  expect(described.metadata).toEqual(metadata);
  expect(edited).toContain(`<nvram template='/usr/share/OVMF/OVMF_VARS_4M.fd'>/pool/new.fd</nvram>`);
  expect(edited).toContain(
    '<other:note xmlns:other="https://example.org/other">a  b<other:disk>x</other:disk></other:note>',
  );
  expect(edited).toContain('52:54:00:aa:bb:cc');
});

test('ejects media and inserts others, and keeps those that are not named', () => {
  const media = new Map([['sda', undefined]]);
  const ejected = describeDomain(editDomainXml(XML, { disks: new Map(), metadata, media })).disks;
  expect(ejected.map(({ target, path }) => [target, path])).toEqual([
    ['vda', '/pool/web.qcow2'],
    ['sda', undefined],
    ['vdb', '/pool/web-seed.iso'],
  ]);
  const inserted = editDomainXml(XML, { disks: new Map(), metadata, media: new Map([['sda', '/pool/other.iso']]) });
  expect(describeDomain(inserted).disks[1]?.path).toBe('/pool/other.iso');
});

test('keeps the record of a snapshot with memory, and of a migration', () => {
  const recorded: InstanceMetadata = {
    ...metadata,
    snapshots: metadata.snapshots.map((snapshot) => ({ ...snapshot, memory: 'web.memory' })),
    pending: {
      kind: 'migration',
      service: 'service',
      snapshot: '',
      startedAt: '2026-01-01T00:00:00.000Z',
      wasRunning: true,
      disks: [],
      memory: 'new.memory',
      target: 'beta',
      isCanceled: true,
    },
  };
  expect(describeDomain(editDomainXml(XML, { disks: new Map(), metadata: recorded })).metadata).toEqual(recorded);
});

test('a clone shares no identity, path, disc or host device with its source', () => {
  const hostdev =
    "    <hostdev mode='subsystem' type='pci' managed='yes'>\n      <source>\n        <address bus='0x03'/>\n      </source>\n    </hostdev>\n";
  const copied = cloneDomainXml(
    XML.replace(/ *<\/devices>/, (end) => hostdev + end),
    { uuid: UUID },
    {
      name: 'copy',
      uuid: COPY,
      metadata: { ...NO_METADATA, owner: COPY },
      disks: new Map([['vda', '/pool/copy.qcow2']]),
      dropped: new Set(['vdb']),
      ejected: new Set(['sda']),
      nvram: '/pool/copy-nvram.fd',
      serialLog: '/pool/copy-serial.log',
      seed: '/pool/copy-seed.iso',
    },
  );
  for (const part of [UUID, 'web', '52:54:00', 'genid', 'base.qcow2', 'hostdev']) expect(copied).not.toContain(part);
  const { name, uuid, disks, metadata: own, serial, nics } = describeDomain(copied);
  expect([name, uuid, own.owner, own.isTemplate, own.tags]).toEqual(['copy', COPY, COPY, false, []]);
  expect(disks.map(({ target, path }) => [target, path])).toEqual([
    ['vda', '/pool/copy.qcow2'],
    ['sda', undefined],
    ['vdb', '/pool/copy-seed.iso'],
  ]);
  expect(serial).toMatchObject({ path: `/pool/${COPY}.serial`, logFile: '/pool/copy-serial.log' });
  expect(nics).toHaveLength(1);
});
