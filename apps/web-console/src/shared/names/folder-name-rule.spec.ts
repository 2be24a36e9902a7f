import 'reflect-metadata';
import { CreateFolderDto } from '@headgate/api-contracts';
import { validateSync } from 'class-validator';
import { folderName, folderNameProblem, folderPath, nameOfFolder, parentOf, placeProblem } from './folder-name-rule.js';

const serviceAccepts = (path: string): boolean =>
  validateSync(Object.assign(new CreateFolderDto(), { path })).length === 0;

test.each([
  ...['prod', 'Prod 2', 'a_b-c.d', '-', '...', 'Büro', 'склад', '倉庫', '٣', 'x'.repeat(63), 'x'.repeat(64)],
  ...['', '.', '..', 'a:b', 'a*b', 'a"b', 'a\tb', 'a\u00a0b', '🙂', 'x'.repeat(65)],
])('judges the name "%s" as the service does', (name) =>
  expect(folderNameProblem(name) === undefined).toBe(serviceAccepts(name)),
);

test('a slash is no part of a name', () =>
  expect(folderNameProblem('a/b')).toBe('Use only letters, digits, spaces, "-", "_", and ".". Not allowed: /'));

test('what a user types becomes a name that the service accepts', () => {
  const typed = ' Bu\u0308ro ';
  expect(serviceAccepts(typed)).toBe(false);
  expect(folderName(typed)).toBe('Büro');
  expect(serviceAccepts(folderName(typed))).toBe(true);
});

test('paths have a name and a folder around it', () => {
  expect(folderPath('', 'prod')).toBe('prod');
  expect(folderPath('prod', 'web')).toBe('prod/web');
  expect([parentOf('prod/web'), parentOf('prod')]).toEqual(['prod', '']);
  expect([nameOfFolder('prod/web'), nameOfFolder('prod')]).toEqual(['web', 'prod']);
});

describe('the place of a folder', () => {
  const known = ['prod', 'prod/web', 'production', 'a', 'a/b', 'a/b/c'];
  test.each([
    ['prod/web/prod', 'prod', "A folder can't be moved into itself."],
    ['production/prod', 'prod', undefined],
    ['prod', 'prod', undefined],
    ['production', 'prod', 'The folder production already exists.'],
    ['production', undefined, 'The folder production already exists.'],
    ['1/2/3/4/5/a', 'a', undefined],
    ['1/2/3/4/5/6/a', 'a', 'Folders have up to 8 levels. This one would have 9.'],
    ['1/2/3/4/5/6/7/8/9', undefined, 'Folders have up to 8 levels. This one would have 9.'],
  ])('%s, from %s: %s', (to, from, problem) => expect(placeProblem(to, known, from)).toBe(problem));
  test('has as many levels as the service accepts', () => {
    const deepest = Array.from({ length: 8 }, () => 'x').join('/');
    expect([deepest, `${deepest}/x`].map((path) => placeProblem(path, []) === undefined)).toEqual(
      [deepest, `${deepest}/x`].map(serviceAccepts),
    );
  });
});
