import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { findProgram } from '../local/machine.mjs';

const PROGRAM = join(import.meta.dirname, 'rootfs/usr/lib/headgate/yaml.awk');

/** The output of the guest's YAML parser, one `path<TAB>value` per line. */
const flatten = (yaml: string) =>
  execFileSync('awk', ['-f', PROGRAM], { input: yaml, encoding: 'utf8' })
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.replace('\t', ' = '));

const withAwk = findProgram('awk') ? describe : describe.skip;

withAwk('yaml.awk', () => {
  test.each([
    ['a plain value', 'a: b c', ['a = b c']],
    ['a comment after a value', 'a: b # c', ['a = b']],
    ['a number sign inside a value', 'a: b#c', ['a = b#c']],
    ['a number sign in quotes', 'a: "b # c"', ['a = b # c']],
    ['a quote in single quotes', "a: 'it''s'", ["a = it's"]],
    ['a map in a map', 'a:\n  b: 1\n  c: 2\nd: 3', ['a.b = 1', 'a.c = 2', 'd = 3']],
    ['a list under its key', 'a:\n  - x\n  - y', ['a.0 = x', 'a.1 = y']],
    ['a list with the indentation of its key', 'a:\n- x\n- y\nb: 1', ['a.0 = x', 'a.1 = y', 'b = 1']],
    ['maps in a list', 'a:\n  - b: 1\n    c: 2\n  - b: 3', ['a.0.b = 1', 'a.0.c = 2', 'a.1.b = 3']],
    ['a list in a list', 'a:\n  - - x\n    - y', ['a.0.0 = x', 'a.0.1 = y']],
    ['a list on one line', 'a: [x, "y, z", [1, 2]]', ['a.0 = x', 'a.1 = y, z', 'a.2.0 = 1', 'a.2.1 = 2']],
    ['a map on one line', 'a: { b: 1, c: "d: e" }', ['a.b = 1', 'a.c = d: e']],
    ['a block of text', 'a: |\n  x: 1\n    y\nb: 2', ['a.# = block', 'a.0 = x: 1', 'a.1 =   y', 'b = 2']],
    ['an SSH key whose comment contains a colon', 'a:\n  - ssh-rsa AAA me@host: x', ['a.0 = ssh-rsa AAA me@host: x']],
    ['Windows line endings', 'a: b\r\nc:\r\n  - d\r\n', ['a = b', 'c.0 = d']],
    ['an empty document', '', []],
  ])('reads %s', (_, yaml, lines) => {
    expect(flatten(yaml)).toEqual(lines);
  });
});
