import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProgramResult, RunProgram } from '../programs/run-program.js';
import { DiskIoProbe, probeDiskIo } from './disk-io.js';

describe('probeDiskIo', () => {
  let folder: string;
  let programs: string[];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hgtest-io-'));
    programs = [];
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const returning =
    (result: Partial<ProgramResult>): RunProgram =>
    (program, args) => {
      programs.push([program, ...args].join(' '));
      return Promise.resolve({ code: 0, stdout: '', stderr: '', ...result });
    };
  const optionsWith = (run: RunProgram) => ({
    run,
    createTemporaryFolder: () => mkdtemp(join(folder, 'probe-')),
    isRoot: false,
  });

  test('uses io_uring only if QEMU can, and leaves nothing behind', async () => {
    expect(await probeDiskIo('/nonexistent', optionsWith(returning({})))).toEqual({ io: 'io_uring' });
    expect(programs).toEqual([expect.stringMatching(/^qemu-img bench .*-i io_uring/)]);
    expect(await readdir(folder)).toEqual([]);
  });

  test('leaves the choice to QEMU where neither works', async () => {
    expect(await probeDiskIo('/nonexistent', optionsWith(returning({ code: 1 })))).toEqual({});
    expect(await probeDiskIo('/proc', optionsWith(returning({ code: null, missing: true })))).toEqual({});
  });

  test('never promises native I/O without direct access', async () => {
    const { cache, io } = await probeDiskIo(folder, optionsWith(returning({ code: 1 })));
    expect(io).toBe(cache === 'none' ? 'native' : undefined);
  });

  test('probes once, again after a failure, and never on another machine', async () => {
    let failures = 1;
    const pool = { path: () => (failures-- > 0 ? Promise.reject(new Error('gone')) : Promise.resolve('/nonexistent')) };
    const probe = new DiskIoProbe(pool, { ...optionsWith(returning({})), isRemote: false });
    expect(await probe.probe()).toEqual({});
    for (let i = 0; i < 2; i++) expect(await probe.probe()).toEqual({ io: 'io_uring' });
    expect(programs).toHaveLength(1);

    const remote = new DiskIoProbe(pool, { ...optionsWith(returning({})), isRemote: true });
    expect(await remote.probe()).toEqual({});
    expect(programs).toHaveLength(1);
  });
});
