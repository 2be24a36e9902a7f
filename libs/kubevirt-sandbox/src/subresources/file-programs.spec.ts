import type { ContainerTree, SpecialEntry } from './container-shells.js';
import { runFileProgram, type ProgramResult } from './file-programs.js';

const tree: ContainerTree = {
  files: new Map([
    ['/etc/hostname', 'box\n'],
    ['/root/not-\udcff', 'x'],
    ['/root/link', ''],
    ['/root/loop', ''],
    ['/root/below', ''],
    ['/root/pipe', ''],
  ]),
  special: new Map<string, SpecialEntry>([
    ['/root/link', { type: 'link', target: '../etc/hostname' }],
    ['/root/loop', { type: 'link', target: 'loop' }],
    ['/root/below', { type: 'link', target: '/etc' }],
    ['/root/pipe', { type: 'pipe' }],
  ]),
  changedAt: 1_000_000,
};

describe('The programs of simulated containers', () => {
  const run = (...command: string[]): readonly [output: string, errors: string, exitCode: number] => {
    const { output, errors, exitCode } = runFileProgram(command, tree) as ProgramResult;
    return [output.toString('latin1'), errors, exitCode];
  };

  test('cat prints files, follows links, and waits for a pipe', () => {
    expect(run('cat', '/root/link', '/root/below/hostname')).toEqual(['box\nbox\n', '', 0]);
    expect(run('cat', '/none', '/etc')).toEqual([
      '',
      'cat: /none: No such file or directory\ncat: /etc: Is a directory\n',
      1,
    ]);
    expect(runFileProgram(['cat', '/root/pipe'], tree)).toBe('waits');
  });

  test('stat prints its format, of links or of the entries that they lead to', () => {
    expect(run('stat', '-c', '%f %s %Y %n//', '/root/link')).toEqual(['a1ff 15 1000 /root/link//\n', '', 0]);
    expect(run('stat', '-L', '-c', '%f %s %%', '/root/link')).toEqual(['81a4 4 %\n', '', 0]);
    expect(run('stat', '-L', '-c', '%f', '/root/loop')).toEqual([
      '',
      "stat: cannot statx '/root/loop': No such file or directory\n",
      1,
    ]);
    expect(run('stat', '-c', '%f', '/root/pipe', '/etc')).toEqual(['11a4\n41ed\n', '', 0]);
  });

  test('find lists a folder, also through a link, and runs programs', () => {
    const depths = ['-mindepth', '1', '-maxdepth', '1'];
    const print = ['-exec', 'stat', '-c', '%n', '{}', '+'];
    expect(run('find', '/root/below/', ...depths, ...print)[0]).toBe('/root/below/hostname\n');
    expect(run('find', '/root/below', ...depths, ...print)).toEqual(['', '', 0]);
    expect(run('find', '/none/', ...print)).toEqual(['', "find: '/none/': No such file or directory\n", 1]);
    expect(run('find', '/root/', ...depths, '-type', 'l', '-exec', 'readlink', '{}', ';')[0]).toBe(
      '../etc/hostname\nloop\n/etc\n',
    );
    expect(run('find', '/root', ...depths, '-type', 'f', ...print)[0]).toBe('/root/not-\xff\n');
    expect(run('find', '/', ...print)[0].split('\n')).toContain('/etc/hostname');
  });

  test('leaves other programs to the shell', () => {
    expect(runFileProgram(['ls', '/'], tree)).toBeUndefined();
    expect(run('readlink', '/etc')).toEqual(['', '', 1]);
  });
});
