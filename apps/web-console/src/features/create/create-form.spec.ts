import { changeForm, EMPTY_FORM, formProblems, requestOf } from './create-form.js';
import { NO_CLOUD_INIT } from './cloud-init.js';

const free = () => false;
const form = changeForm(EMPTY_FORM, { name: 'web-1', image: 'debian-12', context: 'prod' });

describe('changeForm', () => {
  test('sizes follow the image until somebody chooses them', () => {
    const tiny = changeForm(form, { image: 'tiny' });
    expect(tiny).toMatchObject({ cpu: '1', mem: '256Mi', disk: '1Gi' });
    const sized = changeForm(tiny, { mem: '8Gi' });
    expect(changeForm(sized, { image: 'debian-12' })).toMatchObject({ cpu: '1', mem: '8Gi', disk: '1Gi' });
  });
});

describe('formProblems', () => {
  test('finds none in what is right', () => expect(formProblems(form, free)).toEqual({}));

  test('names each field', () => {
    const wrong = { ...form, name: 'Web', source: 'import', cpu: '0', mem: '4', disk: 'big' } as const;
    expect(Object.keys(formProblems(wrong, free))).toEqual(['name', 'import', 'disk', 'cpu']);
  });

  test('says that a name is taken', () => {
    expect(formProblems(form, () => true)).toEqual({ name: 'An instance of this name exists there already.' });
  });

  test('leaves CPU and memory to an instance type, and the disk to an existing volume', () => {
    const wrong = { cpu: 'x', mem: 'x', disk: 'x' };
    const typed = { ...form, ...wrong, instancetype: 'u1.small', source: 'pvc', pvc: 'data' } as const;
    expect(formProblems(typed, free)).toEqual({});
    expect(requestOf(typed)).toEqual({
      name: 'web-1',
      context: 'prod',
      pvc: 'data',
      instancetype: 'u1.small',
      start: true,
    });
  });
});

describe('requestOf', () => {
  test('sends exactly one source and nothing that was left empty', () => {
    const request = requestOf({ ...form, containerDisk: 'typed before the source was changed', import: 'x' });
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

  test('sends the key with bootc only', () => {
    const bootc = { ...form, source: 'bootc', bootc: 'registry.example.org/a/b:1', sshKey: ' ssh-ed25519 A ' } as const;
    expect(requestOf(bootc)).toMatchObject({ bootc: 'registry.example.org/a/b:1', sshKey: 'ssh-ed25519 A' });
    expect(requestOf({ ...bootc, source: 'image' })).not.toHaveProperty('sshKey');
  });

  test('sends the user data', () => {
    const cloudInit = { ...NO_CLOUD_INIT, hostname: 'web' };
    expect(requestOf({ ...form, cloudInit }).cloudInit).toBe('#cloud-config\nhostname: "web"\n');
  });
});
