import { FolderTree } from './folder-tree.js';

const WEB = 'vm/lab/default/web';
const DB = 'vm/lab/default/db';
const web = { ref: WEB, uid: 'uid-web' };
const db = { ref: DB, uid: 'uid-db' };
const another = { ref: WEB, uid: 'uid-another' };

describe('FolderTree', () => {
  let tree: FolderTree;

  beforeEach(() => {
    tree = new FolderTree({
      paths: ['prod', 'prod/db', 'production'],
      members: [
        { ...web, path: 'prod', state: 'member' },
        { ...db, path: 'prod/db', state: 'member' },
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
    expect([tree.folderOf(web), tree.folderOf(db)]).toEqual([undefined, undefined]);
    expect(() => tree.remove('prod')).toThrow('There is no folder prod.');
  });

  test('moves a folder with everything in it', () => {
    expect(tree.apply(tree.move('prod', 'live/eu')).sort()).toEqual([DB, WEB]);
    expect(tree.paths()).toEqual(['live', 'live/eu', 'live/eu/db', 'production']);
    expect([tree.folderOf(web), tree.folderOf(db)]).toEqual(['live/eu', 'live/eu/db']);
    expect(refsIn('live/eu')).toEqual([WEB]);
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
    expect([tree.paths(), tree.folderOf(db)]).toEqual([['db', 'prod', 'production'], 'db']);
  });

  const refsIn = (path: string): string[] => [...tree.members(path)].map(({ ref }) => ref);
  const membersIn = (path: string): unknown[] =>
    [...tree.members(path)].map(({ ref, uid, state }) => [ref, uid, state]);

  test('has each instance in one folder at most', () => {
    expect(tree.apply(tree.assign(web, 'production'))).toEqual([WEB]);
    expect([refsIn('prod'), refsIn('production')]).toEqual([[], [WEB]]);
    expect(tree.assign(web, 'production').assigned).toEqual([]);
    expect(() => tree.assign(web, 'none')).toThrow('There is no folder none.');
    tree.apply(tree.unassign(web));
    expect([tree.folderOf(web), tree.unassign(web).assigned]).toEqual([undefined, []]);
  });

  test('has another instance of the name of a member in no folder', () => {
    expect(tree.folderOf(another)).toBeUndefined();
    expect(tree.folderOf({ ref: WEB, uid: '' })).toBeUndefined();
  });

  test('keeps a former instance when another one of its name gets into another folder, and replaces it in its own', () => {
    tree.apply(tree.assign(another, 'production'));
    expect([tree.folderOf(web), tree.folderOf(another)]).toEqual(['prod', 'production']);
    expect(tree.apply(tree.assign(another, 'prod'))).toEqual([WEB, WEB]);
    expect([membersIn('prod'), refsIn('production')]).toEqual([[[WEB, 'uid-another', 'member']], []]);
    expect(tree.folderOf(web)).toBeUndefined();
  });

  test.each(['', '\ud800', 'a\0b', 'x'.repeat(513), 'ü'.repeat(100)])('refuses the ID %j', (uid) => {
    expect(() => tree.assign({ ref: WEB, uid }, 'prod')).toThrow('no usable ID');
  });

  test('marks a member whose deletion was requested, and keeps the mark in another folder', () => {
    tree.apply(tree.mark(web, 'ending'));
    expect([tree.folderOf(web), [...tree.pending()]]).toEqual(['prod', [expect.objectContaining(web)]]);
    expect(tree.mark(web, 'ending').assigned).toEqual([]);
    expect(tree.mark(another, 'ending').assigned).toEqual([]);
    tree.apply(tree.assign(web, 'production'));
    expect(membersIn('production')).toEqual([[WEB, 'uid-web', 'ending']]);
    tree.apply(tree.mark(web, 'member'));
    expect([...tree.pending()]).toEqual([]);
  });

  describe('with a member of an earlier release', () => {
    const unbound = () => [...tree.pending()][0]!;
    beforeEach(() => {
      tree = new FolderTree({
        paths: ['prod', 'test'],
        members: [{ ref: WEB, uid: '', path: 'prod', state: 'unbound' }],
      });
    });

    test('has no instance in its folder until it is bound', () => {
      expect([tree.folderOf(web), tree.folderOf({ ref: WEB, uid: '' })]).toEqual([undefined, undefined]);
      tree.apply(tree.bind(unbound(), 'uid-web'));
      expect([tree.folderOf(web), [...tree.pending()]]).toEqual(['prod', []]);
    });

    test('keeps one that can not be bound as missing', () => {
      tree.apply(tree.bind(unbound(), ''));
      expect([tree.folderOf(web), membersIn('prod')]).toEqual([undefined, [[WEB, '', 'member']]]);
    });

    test('does not bind an instance that is in a folder already', () => {
      tree.apply(tree.assign(web, 'test'));
      tree.apply(tree.bind(unbound(), 'uid-web'));
      expect([tree.folderOf(web), membersIn('prod')]).toEqual(['test', [[WEB, '', 'member']]]);
    });

    test('replaces it when its instance is put into the same folder', () => {
      tree.apply(tree.assign(web, 'prod'));
      expect([membersIn('prod'), [...tree.pending()]]).toEqual([[[WEB, 'uid-web', 'member']], []]);
    });
  });

  test('names the refs whose members have changed', () => {
    const next = new FolderTree({ paths: ['prod'], members: [{ ...another, path: 'prod', state: 'member' }] });
    expect(next.changesSince(tree).sort()).toEqual([DB, WEB]);
    const same = new FolderTree({ paths: ['prod'], members: [{ ...another, path: 'prod', state: 'member' }] });
    expect(same.changesSince(next)).toEqual([]);
  });
});
