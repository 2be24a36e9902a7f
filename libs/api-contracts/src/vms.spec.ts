import 'reflect-metadata';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { CreateVmDto, MigrateVmDto, TagDto } from './vms.js';

type Body = new () => object;
const problemsOf = (type: Body, body: object): string[] =>
  validateSync(plainToInstance(type, body), { whitelist: true, forbidNonWhitelisted: true })
    .map((problem) => problem.property)
    .sort();

describe('CreateVmDto', () => {
  test('takes the smallest and the fullest body', () => {
    expect(problemsOf(CreateVmDto, { name: 'web', image: 'tiny' })).toEqual([]);
    expect(
      problemsOf(CreateVmDto, {
        name: 'web',
        namespace: 'lab',
        context: 'prod',
        cpu: 4,
        mem: '4G',
        disk: '20Gi',
        containerDisk: 'registry.example.org:5000/a/b:1@sha256:0123',
        node: 'node-1.example.org',
        cloudInit: '#cloud-config',
        instancetype: 'u1.medium',
        preference: 'debian',
        os: 'ubuntu24.04',
        firmware: 'uefi-secure',
        tpm: true,
        autostart: true,
        start: true,
      }),
    ).toEqual([]);
  });

  test.each([
    [{ name: 'Web' }, 'name'],
    [{ name: 7 }, 'name'],
    [{ namespace: '' }, 'namespace'],
    [{ cpu: '2' }, 'cpu'],
    [{ cpu: 1.5 }, 'cpu'],
    [{ cpu: 0 }, 'cpu'],
    [{ cpu: null }, 'cpu'],
    [{ mem: '4 Gi' }, 'mem'],
    [{ mem: 4 }, 'mem'],
    [{ disk: '-1Gi' }, 'disk'],
    [{ image: '' }, 'image'],
    [{ import: 'ftp://example.org/a' }, 'import'],
    [{ import: 'file:///etc/passwd' }, 'import'],
    [{ import: 'https://user:secret@example.org/a' }, 'import'],
    [{ iso: 'https://example.org/a b' }, 'iso'],
    [{ containerDisk: '--help' }, 'containerDisk'],
    [{ node: 'Node_1' }, 'node'],
    [{ start: 'yes' }, 'start'],
    [{ os: '../etc' }, 'os'],
    [{ os: 'x'.repeat(64) }, 'os'],
    [{ firmware: 'efi' }, 'firmware'],
    [{ tpm: 'yes' }, 'tpm'],
    [{ autostart: 1 }, 'autostart'],
    [{ color: 'red' }, 'color'],
  ])('refuses %j', (body, field) => {
    expect(problemsOf(CreateVmDto, { name: 'web', image: 'tiny', ...body })).toEqual([field]);
  });
});

describe('MigrateVmDto', () => {
  test('takes an empty target, which leaves the choice to the scheduler', () => {
    expect(problemsOf(MigrateVmDto, {})).toEqual([]);
    expect(problemsOf(MigrateVmDto, { targetNode: '' })).toEqual([]);
    expect(problemsOf(MigrateVmDto, { targetNode: 'a/b' })).toEqual(['targetNode']);
  });
});

describe('TagDto', () => {
  test('needs both fields', () => {
    expect(problemsOf(TagDto, { tag: 'prod', on: true })).toEqual([]);
    expect(problemsOf(TagDto, { tag: 'a b' })).toEqual(['on', 'tag']);
  });
});
