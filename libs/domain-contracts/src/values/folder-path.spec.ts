import { expectFolderPath, isFolderPath, isWithinFolder, parentFolder } from './folder-path.js';

describe('folder paths', () => {
  test.each(['prod', 'prod/databases', 'Büro 2/east_1/v1.2-b', 'a/b/c/d/e/f/g/h', '...', '数据'])(
    'accepts %j',
    (path) => {
      expect(isFolderPath(path)).toBe(true);
      expect(expectFolderPath(path)).toBe(path);
    },
  );

  test.each([
    '',
    '/',
    '/prod',
    'prod/',
    'prod//web',
    '.',
    'prod/..',
    '../prod',
    ' prod',
    'prod ',
    'prod/ /web',
    'a/b/c/d/e/f/g/h/i',
    'prod\\web',
    'prod\nweb',
    'prod\u0000',
    'prod%2fweb',
    '<b>',
    'a'.repeat(65),
    // The same letter in two forms would make two folders that look alike.
    'Bu\u0308ro',
  ])('refuses %j', (path) => {
    expect(isFolderPath(path)).toBe(false);
    expect(() => expectFolderPath(path, 'to')).toThrow(/^to must be 1 to 8 names/);
  });

  test('have a parent, except at the top', () => {
    expect([parentFolder('a/b/c'), parentFolder('a/b'), parentFolder('a')]).toEqual(['a/b', 'a', undefined]);
  });

  test('lie within a folder by whole names', () => {
    expect(isWithinFolder('prod/web', 'prod')).toBe(true);
    expect(isWithinFolder('prod', 'prod')).toBe(true);
    expect(isWithinFolder('production', 'prod')).toBe(false);
  });
});
