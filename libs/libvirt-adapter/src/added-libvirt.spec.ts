import 'reflect-metadata';
import { SettingError } from '@headgate/domain-contracts';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { addedLibvirt } from './added-libvirt.js';
import { libvirtKind } from './kind.js';

const isAccepted = (uri: string): boolean => {
  if (validateSync(plainToInstance(addedLibvirt.settings, { uri })).length > 0) return false;
  try {
    addedLibvirt.reduce('far', { uri });
    return true;
  } catch (error) {
    if (error instanceof SettingError) return false;
    throw error;
  }
};

describe('the URI of an added host', () => {
  test.each([
    ['qemu:///system', []],
    ['qemu:///session', []],
    ['qemu+ssh://root@host.example/system', []],
    ['qemu+ssh://host:2222/system', []],
    ['qemu+tls://host.example/system', [{ host: 'host.example', port: 16_514 }]],
    ['qemu+tls://[fd00::7]:16999/system', [{ host: 'fd00::7', port: 16_999 }]],
  ])('may be %s', (uri, targets) => {
    expect(isAccepted(uri)).toBe(true);
    expect(addedLibvirt.targets(addedLibvirt.reduce('far', { uri }))).toEqual(targets);
    expect(addedLibvirt.describe({ uri })).toEqual({ uri });
  });

  test.each([
    'qemu+ext:///system?command=/tmp/run',
    'qemu+ssh://host/system?command=/tmp/run',
    'qemu+ssh://host/system?netcat=/tmp/run',
    'qemu+ssh://host/system?keyfile=/etc/shadow',
    'qemu+ssh://host/system#a',
    'qemu+unix:///system?socket=/tmp/socket',
    'qemu+unix:///system',
    'qemu+tcp://host/system',
    'qemu+libssh2://host/system',
    'qemu+tls://host/system?pkipath=/tmp',
    'qemu+tls://ann@host/system',
    'qemu+tls:///system',
    'qemu+ssh:///system',
    'qemu://host/system',
    'qemu+ssh://ann:secret@host/system',
    'qemu+ssh://-oProxyCommand=run/system',
    'qemu+ssh://-oProxyCommand=run@host/system',
    'qemu+ssh://ho st/system',
    'qemu+ssh://host:0/system',
    'qemu+ssh://host:65536/system',
    'qemu+ssh://host/system/../session',
    'qemu+ssh://host;run/system',
    'qemu+ssh://$(run)/system',
    'qemu+ssh://host/system\n',
    'test:///etc/shadow',
    'test:///default',
    'lxc:///',
    'esx://host/',
    '',
  ])('may not be %j', (uri) => {
    expect(isAccepted(uri)).toBe(false);
  });

  test('of the configuration is shown without a password and its query', () => {
    const uri = 'qemu+ssh://ann:secret@host/system?keyfile=/root/key';
    expect(libvirtKind.describe?.({ uri })).toEqual({ uri: 'qemu+ssh://ann@host/system' });
    expect(libvirtKind.describe?.({})).toEqual({ uri: 'qemu:///system' });
  });
});

describe('a change of the URI of an added host', () => {
  const before = { uri: 'qemu:///system' };

  test('replaces it, and leads to another engine', () => {
    const uri = 'qemu+ssh://vms@host/system';
    expect(addedLibvirt.merge('far', before, { uri })).toEqual({ uri });
    expect(addedLibvirt.merge('far', before, {})).toEqual(before);
    expect(addedLibvirt.engineOf({ uri })).not.toBe(addedLibvirt.engineOf(before));
  });

  test('leaves a missing URI and unknown keys to the check of the settings', () => {
    const merged = addedLibvirt.merge('far', before, { uri: null, keyfile: '/etc/shadow' });
    expect(merged).toEqual({ keyfile: '/etc/shadow' });
  });
});
