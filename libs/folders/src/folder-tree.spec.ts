import { FolderTree } from './folder-tree.js';

const WEB = 'vm/lab/default/web';
const DB = 'vm/lab/default/db';

describe('FolderTree', () => {
  let tree: FolderTree;

  beforeEach(() => {
    tree = new FolderTree({
      paths: ['prod', 'prod/db', 'production'],
      members: [
        { ref: WEB, path: 'prod' },
        { ref: DB, path: 'prod/db' },
      ],
    });
  });

  test('creates the folders on the way', () => {
    expect(tree.apply(tree.create('test/a/b'))).toEqual([]);
    expect(tree.paths()).toEqual(['prod', 'prod/db', 'production', 'test', 'test/a', 'test/a/b']);
    expect(tree.create('prod/x').created).toEqual(['prod/x']);
    expect(() => tree.create('prod')).toThrow('already exists');
  });

  test('sorts level by level', () => {
    tree.apply(tree.create('prod a'));
    expect(tree.paths()).toEqual(['prod', 'prod/db', 'prod a', 'production']);
  });

  test('removes a folder with those in it, and leaves names that only begin alike', () => {
    expect(tree.apply(tree.remove('prod')).sort()).toEqual([DB, WEB]);
    expect(tree.paths()).toEqual(['production']);
    expect([tree.folderOf(WEB), tree.folderOf(DB)]).toEqual([undefined, undefined]);
    expect(() => tree.remove('prod')).toThrow('There is no folder prod.');
  });

  test('moves a folder with everything in it', () => {
    expect(tree.apply(tree.move('prod', 'live/eu')).sort()).toEqual([DB, WEB]);
    expect(tree.paths()).toEqual(['live', 'live/eu', 'live/eu/db', 'production']);
    expect([tree.folderOf(WEB), tree.folderOf(DB)]).toEqual(['live/eu', 'live/eu/db']);
    expect([...tree.members('live/eu')]).toEqual([WEB]);
  });

  test.each([
    ['a folder that does not exist', 'none', 'x', /no folder none/],
    ['a folder into itself', 'prod', 'prod/inner', /into itself/],
    ['a folder onto itself', 'prod', 'prod', /into itself/],
    ['a folder onto another', 'prod', 'production', /already exists/],
    ['a folder so deep that those in it pass the limit', 'prod', 'a/b/c/d/e/f/g/h', /deeper than 8/],
  ])('does not move %s', (_title, from, to, message) => {
    expect(() => tree.move(from, to)).toThrow(message);
    expect(tree.paths()).toEqual(['prod', 'prod/db', 'production']);
  });

  test('moves a folder up, next to the one around it', () => {
    tree.apply(tree.move('prod/db', 'db'));
    expect([tree.paths(), tree.folderOf(DB)]).toEqual([['db', 'prod', 'production'], 'db']);
  });

  test('has each instance in one folder at most', () => {
    expect(tree.apply(tree.assign(WEB, 'production'))).toEqual([WEB]);
    expect([[...tree.members('prod')], [...tree.members('production')]]).toEqual([[], [WEB]]);
    expect(tree.assign(WEB, 'production').assigned).toEqual([]);
    expect(() => tree.assign(WEB, 'none')).toThrow('There is no folder none.');
    tree.apply(tree.unassign(WEB));
    expect(() => tree.unassign(WEB)).toThrow('is in no folder');
  });
});
