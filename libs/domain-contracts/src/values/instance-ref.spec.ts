import { formatRef, isJournalRef, parseRef } from './instance-ref.js';

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

describe('isJournalRef', () => {
  test.each(['vm/lab/default/web', 'ct/a%2Fb/default/box', 'folder/prod/web', 'task/move-web-1', 'context/a@b'])(
    'accepts "%s"',
    (text) => expect(isJournalRef(text)).toBe(true),
  );

  test.each(['', 'bad', 'vm/lab/web', 'vm/lab/default/Bad', 'folder', 'folder/', 'toString/x', '/web'])(
    'refuses "%s"',
    (text) => expect(isJournalRef(text)).toBe(false),
  );
});
