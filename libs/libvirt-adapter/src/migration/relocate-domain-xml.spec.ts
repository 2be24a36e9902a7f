import { NO_METADATA } from '../domain-xml/instance-metadata.js';
import { describeDomain } from '../domain-xml/domain-description.js';
import { ownDomainXml, UUID } from '../testing/domain-xml.js';
import { relocateDomainXml } from './relocate-domain-xml.js';

const FROM = '/images/headgate';
const metadata = { ...NO_METADATA, owner: UUID, tags: ['moved'] };
const relocate = (xml: string, to = '/srv/other', copied = new Map([['vda', 'web-2c749204.qcow2']])): string =>
  relocateDomainXml(xml, { from: FROM, to, copied, metadata });

describe('relocateDomainXml', () => {
  test('moves every file of the pool to the folder on the destination, and replaces the metadata', () => {
    const relocated = relocate(ownDomainXml());
    const { disks, serial, metadata: written } = describeDomain(relocated);
    expect(disks[0]?.path).toBe('/srv/other/web-2c749204.qcow2');
    expect(serial).toMatchObject({
      path: `/srv/other/${UUID}.serial`,
      logFile: '/srv/other/web-2c749204-serial.log',
    });
    expect(written).toMatchObject({ tags: ['moved'], volumes: [] });
    expect(relocated).not.toContain(FROM);
  });

  test('leaves files outside of the pool, and folders whose name only begins like it', () => {
    const xml = ownDomainXml().replace('</devices>', `<x file='${FROM}-2/a'/><x file='/other${FROM}/b'/></devices>`);
    const relocated = relocate(xml);
    expect(relocated).toContain(`'${FROM}-2/a'`);
    expect(relocated).toContain(`'/other${FROM}/b'`);
  });

  test('removes the files below a disk that is copied, and keeps those of shared storage', () => {
    const below = `<backingStore type='file'><source file='${FROM}/base.raw'/></backingStore>`;
    const xml = ownDomainXml().replace(/(<source file="[^"]*qcow2"\/?>(?:<\/source>)?)/, `$1${below}`);
    expect(xml).toContain(below);
    expect(relocate(xml)).not.toContain('base.raw');
    expect(relocate(xml, '/srv/other', new Map())).toContain('/srv/other/base.raw');
  });

  test('writes folders with characters of XML and of replacements literally', () => {
    expect(describeDomain(relocate(ownDomainXml(), '/srv/a&b$1')).disks[0]?.path).toBe('/srv/a&b$1/web-2c749204.qcow2');
    expect(describeDomain(relocate(ownDomainXml(), '/srv/a&b$1')).serial?.path).toBe(`/srv/a&b$1/${UUID}.serial`);
  });
});
