import { execFile } from 'node:child_process';
import { mkdir, open, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const MIB = 1024 ** 2;

/** A name that is no UTF-8, as bytes. */
export const ODD_NAME = Buffer.from([0x62, 0x61, 0x64, 0xff, 0x0a, 0x25]);
export const ODD_TEXT = 'bad%FF%0A%25';
export const DATE = new Date('2024-05-06T07:08:09.000Z');
/** Longer than one frame. */
export const BIG = Buffer.alloc(300_000, 'abcdefg\n');

/** A folder with files, links and a pipe, which the programs below copy into file systems. */
export async function writeTree(folder: string): Promise<void> {
  await mkdir(join(folder, 'etc/deep/er'), { recursive: true });
  await writeFile(join(folder, 'etc/hosts'), '127.0.0.1 localhost\n');
  await utimes(join(folder, 'etc/hosts'), DATE, DATE);
  await writeFile(join(folder, 'etc/deep/er/end'), 'the end\n');
  await writeFile(join(folder, 'big.bin'), BIG);
  await writeFile(Buffer.concat([Buffer.from(`${folder}/`), ODD_NAME]), 'odd');
  // Out of the file system, and over its root.
  await symlink('/etc', join(folder, 'link'));
  await symlink('../../../../../../etc/passwd', join(folder, 'etc/up'));
  await run('mkfifo', [join(folder, 'pipe')]);
  const sparse = await open(join(folder, 'sparse'), 'w');
  await sparse.truncate(8 * MIB);
  await sparse.close();
}

const blank = async (path: string, bytes: number): Promise<void> => {
  await writeFile(path, '');
  await truncate(path, bytes);
};

/** File systems as files, which need no root. Each takes the path of the image, and that of the tree. */
export const FILE_SYSTEMS = {
  ext4: async (path: string, tree: string) => {
    await blank(path, 32 * MIB);
    await run('mke2fs', ['-q', '-t', 'ext4', '-L', 'root', '-d', tree, path]);
  },
  ntfs: async (path: string, tree: string) => {
    await blank(path, 32 * MIB);
    await run('mkntfs', ['-q', '-F', '-L', 'Windows', path]);
    await run('ntfscp', [path, join(tree, 'etc/hosts'), 'hosts']);
    await run('ntfscp', [path, join(tree, 'big.bin'), 'big.bin']);
  },
  vfat: async (path: string, tree: string) => {
    await blank(path, 64 * MIB);
    await run('mkfs.vfat', ['-F', '32', '-n', 'DATA', path]);
    await run('mcopy', ['-i', path, join(tree, 'etc/hosts'), '::/hosts']);
    await run('mcopy', ['-i', path, join(tree, 'big.bin'), '::/big.bin']);
  },
  btrfs: async (path: string, tree: string) => {
    await blank(path, 128 * MIB);
    await run('mkfs.btrfs', ['-q', '-L', 'bt', '--rootdir', tree, path]);
  },
  xfs: async (path: string, tree: string) => {
    await blank(path, 310 * MIB);
    const prototype = `${path}.prototype`;
    const files = ['hosts ---644 0 0 etc/hosts', 'big.bin ---644 0 0 big.bin'];
    await writeFile(prototype, `/dev/null\n0 0\nd--755 0 0\n${files.join('\n')}\n$\n`);
    await run('mkfs.xfs', ['-q', '-L', 'xf', '-p', prototype, path], { cwd: tree });
  },
} as const;

export type FileSystemName = keyof typeof FILE_SYSTEMS;

/** The programs that write each one. */
export const WRITERS: Readonly<Record<FileSystemName | 'lvm', readonly string[]>> = {
  ext4: ['mke2fs'],
  ntfs: ['mkntfs', 'ntfscp'],
  vfat: ['mkfs.vfat', 'mcopy'],
  btrfs: ['mkfs.btrfs'],
  xfs: ['mkfs.xfs'],
  lvm: ['lvm', 'losetup'],
};

const LOGICAL_MIB = 32;
/** Where the first extent begins. */
const DATA_MIB = 1;

/**
 * A physical volume whose group has the logical volumes `root` and `data-x`, each with the content of an image of at
 * most 32 MiB. Needs root for a loop device, and no device mapper.
 */
export async function writeLvm(path: string, group: string, images: readonly [string, string]): Promise<void> {
  await blank(path, 80 * MIB);
  const { stdout } = await run('losetup', ['--find', '--show', path]);
  const device = stdout.trim();
  const config = ['--config', `global{activation=0} devices{filter=["a|^${device}$|","r|.*|"] use_devicesfile=0}`];
  try {
    await run('lvm', ['pvcreate', ...config, '-y', device]);
    await run('lvm', ['vgcreate', ...config, group, device]);
    for (const name of ['root', 'data-x'])
      await run('lvm', ['lvcreate', ...config, '-y', '-an', '-Zn', '-Wn', '-n', name, '-L', `${LOGICAL_MIB}M`, group]);
  } finally {
    await run('losetup', ['-d', device]);
  }
  for (const [index, image] of images.entries()) {
    const seek = DATA_MIB + index * LOGICAL_MIB;
    await run('dd', [`if=${image}`, `of=${path}`, 'bs=1M', `seek=${seek}`, 'conv=notrunc', 'status=none']);
  }
}

/** A disk with a partition table of the kind MBR, a blank first partition, and the image in its second one. */
export async function writePartitioned(path: string, image: string, bytes: number): Promise<void> {
  await blank(path, bytes + 8 * MIB);
  const table = Buffer.alloc(66);
  for (const [index, [start, size]] of [[2048, 2048] as const, [8192, bytes / 512] as const].entries()) {
    table[16 * index + 4] = 0x83;
    table.writeUInt32LE(start, 16 * index + 8);
    table.writeUInt32LE(size, 16 * index + 12);
  }
  table.writeUInt16LE(0xaa55, 64);
  const file = await open(path, 'r+');
  await file.write(table, 0, table.length, 446);
  await file.close();
  await run('dd', [`if=${image}`, `of=${path}`, 'bs=1M', 'seek=4', 'conv=notrunc', 'status=none']);
}
