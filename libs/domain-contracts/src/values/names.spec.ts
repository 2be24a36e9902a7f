import { expectInstanceName, isContextName, isInstanceName, isKubernetesName, isTag, isVolumeName } from './names.js';

describe('names', () => {
  test.each(['a', '0', 'web-1', 'a-', 'a'.repeat(63)])('takes the instance name %s', (name) => {
    expect(isInstanceName(name)).toBe(true);
  });

  test.each(['', '-a', 'A', 'a_b', 'a.b', 'a/b', 'a b', 'ä', 'a'.repeat(64), 'a\n'])(
    'refuses the instance name "%s"',
    (name) => {
      expect(isInstanceName(name)).toBe(false);
      expect(() => expectInstanceName(name, 'target')).toThrow(/^target must be/);
    },
  );

  test('follows Kubernetes for nodes and instancetypes', () => {
    expect(isKubernetesName('node-1.example.org')).toBe(true);
    expect(isKubernetesName('u1.medium')).toBe(true);
    expect(isKubernetesName('a..b')).toBe(false);
  });

  test('accepts the context names of kubeconfig files', () => {
    expect(isContextName('kubernetes-admin@prod')).toBe(true);
    expect(isContextName('a b')).toBe(false);
  });

  test('leaves room for the prefix of a tag in a label name', () => {
    expect(isTag('x'.repeat(59))).toBe(true);
    expect(isTag('x'.repeat(60))).toBe(false);
    expect(isTag('Prod.eu_1')).toBe(true);
    expect(isTag('a/b')).toBe(false);
  });
});

describe('isVolumeName', () => {
  test.each(['data', 'web-2c749204.qcow2', 'Win 10_data.img', 'default/a.qcow2', 'größer'])('accepts %j', (name) =>
    expect(isVolumeName(name)).toBe(true),
  );

  test.each(['', '-rf', '--pool', 'a/b/c', '/a', 'a/', '..', '../a', 'a\nb', 'a\0', 'x'.repeat(256)])(
    'rejects %j',
    (name) => expect(isVolumeName(name)).toBe(false),
  );
});
