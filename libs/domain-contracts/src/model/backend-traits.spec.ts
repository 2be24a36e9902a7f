import { chooseNamespace, DNS_LABEL_RULE, matchesNameRule, type BackendTraits } from './backend-traits.js';

const traits = (namespaces: BackendTraits['namespaces']): BackendTraits => ({
  kind: 'test',
  label: 'Test',
  namespaces,
  instanceNames: DNS_LABEL_RULE,
  imageKinds: [],
  placementFields: [],
});

describe('chooseNamespace', () => {
  test('takes the default when none is given', () => {
    expect(chooseNamespace(traits({ default: 'a', isOnlyOne: false }), 'lab')).toBe('a');
  });

  test('takes the given one when the backend has namespaces', () => {
    expect(chooseNamespace(traits({ default: 'a', isOnlyOne: false }), 'lab', 'b')).toBe('b');
  });

  test('accepts the only namespace and refuses any other', () => {
    const only = traits({ default: 'local', isOnlyOne: true });
    expect(chooseNamespace(only, 'lab', 'local')).toBe('local');
    expect(() => chooseNamespace(only, 'lab', 'b')).toThrow(
      expect.objectContaining({
        code: 'INVALID_INPUT',
        message: 'namespace must be "local" on lab, which has no other.',
      }),
    );
  });
});

describe('matchesNameRule', () => {
  test.each(['a', '0', 'web-1', 'a'.repeat(63)])('accepts "%s"', (name) => {
    expect(matchesNameRule(DNS_LABEL_RULE, name)).toBe(true);
  });

  test.each(['', 'a-', '-a', 'a.b', 'a\n', 'a'.repeat(64)])('refuses "%s"', (name) => {
    expect(matchesNameRule(DNS_LABEL_RULE, name)).toBe(false);
  });
});
