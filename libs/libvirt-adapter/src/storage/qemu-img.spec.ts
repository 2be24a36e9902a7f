import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runProgram, type RunOptions, type RunProgram } from '../programs/run-program.js';
import { QemuImg } from './qemu-img.js';

const RAW = { format: 'raw', bytes: 1024 ** 3 } as const;

describe('QemuImg', () => {
  let folder: string;
  let calls: { args: readonly string[]; options: RunOptions }[];
  const record: RunProgram = (_program, args, options) => {
    calls.push({ args, options });
    return Promise.resolve({ code: 0, stdout: '{}', stderr: '' });
  };
  beforeEach(async () => {
    calls = [];
    folder = await mkdtemp(join(tmpdir(), 'qemu-img-spec-'));
    await writeFile(join(folder, 'source'), '');
  });
  afterEach(() => rm(folder, { recursive: true }));

  test('limits the memory, the time and the output of every run', async () => {
    const images = new QemuImg(record, false);
    await images.check('/images/a', RAW);
    await images.convert('/images/a', RAW, join(folder, 'disk.qcow2'));
    await images.grow('/images/a', 1024);
    expect(calls).toHaveLength(3);
    for (const { options } of calls) expect(options.limits?.addressSpaceBytes).toBeLessThanOrEqual(4 * 1024 ** 3);
    for (const { options } of calls) expect(options.limits?.cpuSeconds).toBeLessThanOrEqual(3600);
    expect(calls[1]?.options.limits?.fileBytes).toBeLessThan(1.2 * 1024 ** 3);
  });

  const testAsRoot = process.getuid?.() === 0 ? test : test.skip;
  testAsRoot('converts an untrusted image as an unprivileged user, who owns the folder', async () => {
    await new QemuImg(record).convert(join(folder, 'source'), RAW, join(folder, 'disk.qcow2'));
    expect(calls[0]).toMatchObject({
      args: ['convert', '-f', 'raw', '-O', 'qcow2', 'source', 'disk.qcow2'],
      options: { cwd: folder, user: { uid: 65_534 } },
    });
    expect((await stat(folder)).uid).toBe(65_534);
  });

  test('converts a trusted image from another folder without giving the folder away', async () => {
    await new QemuImg(record).convert('/cache/tiny.qcow2', RAW, join(folder, 'disk.qcow2'));
    expect(calls[0]?.options.user).toBeUndefined();
    expect((await stat(folder)).uid).toBe(process.getuid?.());
  });
});

describe('runProgram', () => {
  test('kills a program that exceeds its limits', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'limits-spec-')), 'output');
    const limits = { addressSpaceBytes: 1024 ** 3, cpuSeconds: 60, fileBytes: 1024 };
    const result = await runProgram('sh', ['-c', 'exec head -c 4096 /dev/zero > "$0"', file], {
      timeoutMs: 60_000,
      limits,
    });
    expect(result.code).not.toBe(0);
    expect((await stat(file)).size).toBe(1024);
    await rm(dirname(file), { recursive: true });
  });

  test('reports a missing program also with limits', async () => {
    const limits = { addressSpaceBytes: 1024 ** 3, cpuSeconds: 1 };
    expect(await runProgram('no-such-program', [], { timeoutMs: 10_000, limits })).toMatchObject({ missing: true });
  });
});
