import { changeVm, EMPTY_VM, vmProblems, vmRequest } from './vm-form.js';
import { NO_CLOUD_INIT } from './cloud-init.js';

const form = changeVm(EMPTY_VM, { name: 'web-1', image: 'debian-12', context: 'prod' });

describe('changeVm', () => {
  test('sizes follow the image until the user chooses them', () => {
    const tiny = changeVm(form, { image: 'tiny' });
    expect(tiny).toMatchObject({ cpu: '1', mem: '256Mi', disk: '1Gi' });
    const sized = changeVm(tiny, { mem: '8Gi' });
    expect(changeVm(sized, { image: 'debian-12' })).toMatchObject({ cpu: '1', mem: '8Gi', disk: '1Gi' });
  });
});

describe('vmProblems', () => {
  test('finds no problem with a valid form', () => expect(vmProblems(form)).toEqual({}));

  test('reports each field', () => {
    const wrong = { ...form, source: 'import', cpu: '0', mem: '4', disk: 'big' } as const;
    expect(Object.keys(vmProblems(wrong))).toEqual(['import', 'disk', 'cpu', 'mem']);
  });

  test('skips CPU and memory with an instance type, and the disk with an existing volume', () => {
    const wrong = { cpu: 'x', mem: 'x', disk: 'x' };
    const typed = { ...form, ...wrong, instancetype: 'u1.small', source: 'pvc', pvc: 'data' } as const;
    expect(vmProblems(typed)).toEqual({});
    expect(vmRequest(typed)).toEqual({
      name: 'web-1',
      context: 'prod',
      pvc: 'data',
      instancetype: 'u1.small',
      start: true,
    });
  });
});

describe('vmRequest', () => {
  test('sends exactly one source and no empty fields', () => {
    const request = vmRequest({ ...form, containerDisk: 'typed before the source was changed', import: 'x' });
    expect(request).toEqual({
      name: 'web-1',
      context: 'prod',
      image: 'debian-12',
      cpu: 2,
      mem: '4Gi',
      disk: '20Gi',
      start: true,
    });
  });

  test('sends the SSH key only with bootc', () => {
    const bootc = { ...form, source: 'bootc', bootc: 'registry.example.org/a/b:1', sshKey: ' ssh-ed25519 A ' } as const;
    expect(vmRequest(bootc)).toMatchObject({ bootc: 'registry.example.org/a/b:1', sshKey: 'ssh-ed25519 A' });
    expect(vmRequest({ ...bootc, source: 'image' })).not.toHaveProperty('sshKey');
  });

  test('sends the firmware, TPM and autostart only if they were chosen', () => {
    expect(vmRequest(form)).not.toHaveProperty('tpm');
    const chosen = { ...form, firmware: 'uefi-secure', tpm: 'no', os: ' win11 ', autostart: true } as const;
    expect(vmRequest(chosen)).toMatchObject({ firmware: 'uefi-secure', tpm: false, os: 'win11', autostart: true });
  });

  test('sends the user data', () => {
    const cloudInit = { ...NO_CLOUD_INIT, hostname: 'web' };
    expect(vmRequest({ ...form, cloudInit }).cloudInit).toBe('#cloud-config\nhostname: "web"\n');
  });
});
