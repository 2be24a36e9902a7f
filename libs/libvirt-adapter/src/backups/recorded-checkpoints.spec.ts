import { DomainError } from '@headgate/domain-contracts';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { describeDomain } from '../domain-xml/domain-description.js';
import type { EditableDomain } from '../domains/domain-editor.js';
import { checkpointOf, newCheckpointId, RecordedCheckpoints } from './recorded-checkpoints.js';

const UUID = '2c749204-8322-4dfd-b324-cb2e556e0e9a';
const OURS = checkpointOf('').description;

const checkpointXml = (size: string | undefined, description: string | undefined = OURS): string =>
  `<domaincheckpoint><name>x</name>${description === undefined ? '' : `<description>${description}</description>`}
    <creationTime>1767225600</creationTime>
    <disks><disk name='vda' checkpoint='bitmap' bitmap='x'${size === undefined ? '' : ` size='${size}'`}/><disk name='sda' checkpoint='no'/></disks></domaincheckpoint>`;

const domain = (isActive: boolean, backup = ''): EditableDomain => ({
  description: describeDomain(`<domain><name>web</name><uuid>${UUID}</uuid><memory>1</memory><vcpu>1</vcpu>
    <metadata><headgate:instance xmlns:headgate='https://headgate.dev/xmlns/instance/1' owner='${UUID}'>${backup}</headgate:instance></metadata>
    <devices><disk type='file' device='disk'><source file='/pool/web.qcow2'/><target dev='vda'/></disk>
      <disk type='file' device='cdrom'><source file='/pool/seed.iso'/><target dev='sda'/></disk></devices></domain>`),
  isActive,
  isPersistent: true,
});

describe('the checkpoints in libvirt', () => {
  let documents: Map<string, string>;
  let calls: string[];
  let failure: DomainError | undefined;

  beforeEach(() => {
    [documents, calls, failure] = [new Map(), [], undefined];
  });

  const checkpoints = (): RecordedCheckpoints => {
    const backups = {
      checkpoints: async () => [...documents.keys()],
      checkpointXml: async (_uuid: string, id: string, { withSize }: { withSize: boolean }) => {
        const xml = documents.get(id);
        if (xml === undefined) throw new DomainError('CHECKPOINT_NOT_FOUND', 'There is no such checkpoint.');
        return withSize ? xml : xml.replace(/ size='\d+'/, '');
      },
      deleteCheckpoint: async (_uuid: string, id: string, { keepBitmap }: { keepBitmap: boolean }) => {
        calls.push(`delete ${id}${keepBitmap ? ' but its bitmap' : ''}`);
        if (failure && !keepBitmap) throw failure;
      },
    };
    const images = {
      removeBitmap: async (path: string, bitmap: string) => void calls.push(`remove ${bitmap} ${path}`),
    };
    return new RecordedCheckpoints({ backups } as unknown as LibvirtConnection, images);
  };

  test('have names that are never used again', () => {
    const [one, other] = [newCheckpointId('monday'), newCheckpointId('monday')];
    expect(one).toMatch(/^monday\.[0-9a-f]{8}$/);
    expect(one).not.toBe(other);
  });

  test('are listed with their changes, without those of other programs and of an export that runs', async () => {
    documents.set('monday.01234567', checkpointXml('65536'));
    documents.set('tuesday.89abcdef', checkpointXml(undefined));
    documents.set('running.00000000', checkpointXml('0'));
    documents.set('foreign', checkpointXml('1'));
    documents.set('like.01234567', checkpointXml('1', 'nightly'));
    documents.set('like.89abcdef', checkpointXml('1', undefined).replace(/<description>.*<\/description>/, ''));
    const backup = `<headgate:backup service='s' started='t' volume='v' checkpoint='running.00000000'/>`;
    expect(await checkpoints().list(domain(true, backup))).toEqual([
      {
        id: 'monday.01234567',
        name: 'monday',
        creationTime: '2026-01-01T00:00:00.000Z',
        ready: true,
        changedBytes: 65_536,
      },
      expect.objectContaining({ name: 'tuesday', ready: false, reason: expect.stringContaining('delete it') }),
    ]);
    for (const name of ['foreign', 'like', 'running'])
      await expect(checkpoints().find(domain(true, backup), { uuid: UUID, name: 'web' }, name)).rejects.toMatchObject({
        code: 'CHECKPOINT_NOT_FOUND',
      });
  });

  test('of a VM that is not running are not ready', async () => {
    documents.set('monday.01234567', checkpointXml('65536'));
    expect(await checkpoints().list(domain(false))).toMatchObject([
      { name: 'monday', ready: false, reason: expect.stringContaining('Start it') },
    ]);
  });

  test('are removed with their bitmaps, in QEMU or in the image of the disk', async () => {
    documents.set('monday.01234567', checkpointXml('0'));
    await checkpoints().remove(domain(true), 'monday.01234567');
    await checkpoints().remove(domain(false), 'monday.01234567');
    expect(calls).toEqual([
      'delete monday.01234567',
      'remove monday.01234567 /pool/web.qcow2',
      'delete monday.01234567 but its bitmap',
    ]);
  });

  test('are removed when their bitmaps are lost, or when they are gone already', async () => {
    failure = new DomainError('CHECKPOINT_INCONSISTENT', 'lost');
    await checkpoints().remove(domain(true), 'monday.01234567');
    failure = new DomainError('CHECKPOINT_NOT_FOUND', 'gone');
    await checkpoints().remove(domain(true), 'monday.01234567');
    await checkpoints().remove(domain(false), 'monday.01234567');
    expect(calls).toEqual([
      'delete monday.01234567',
      'delete monday.01234567 but its bitmap',
      'delete monday.01234567',
    ]);
    failure = new DomainError('BUSY', 'busy');
    await expect(checkpoints().remove(domain(true), 'monday.01234567')).rejects.toMatchObject({ code: 'BUSY' });
  });
});
