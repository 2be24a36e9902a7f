import { formatRef, parseRef } from './instance-ref.js';

describe('parseRef', () => {
  test('reads back what formatRef wrote, also for a context with a slash', () => {
    const ref = { kind: 'vm', context: 'arn:aws:eks/prod', namespace: 'lab', name: 'web' } as const;
    expect(formatRef(ref)).toBe('vm/arn%3Aaws%3Aeks%2Fprod/lab/web');
    expect(parseRef(formatRef(ref))).toEqual(ref);
  });

  test.each([
    '',
    'vm',
    'vm/a/b',
    'vm/a/b/c/d',
    'pod/a/b/c',
    'vm//b/c',
    'vm/a/B/c',
    'vm/a/b/c%2Fd',
    'vm/a/b/%',
    'vm/a/b/../c',
  ])('refuses "%s"', (text) => {
    expect(() => parseRef(text)).toThrow(expect.objectContaining({ code: 'INVALID_REF' }));
  });
});
