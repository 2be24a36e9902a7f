import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../..');

/** What the packages ask their user for. Linked, because the test may not depend on a network. */
const PEERS = ['@nestjs', 'reflect-metadata', 'rxjs', 'prom-client', 'fastify'];

const CONSUMER = `
import 'reflect-metadata';
import { CapLedger, type RateRefusal, RateWindows } from '@headgate/limits-core';
import { canonicalJson, MatrixError } from '@headgate/matrix-protocol';
import { Limited, LimitsModule, bySource } from '@headgate/limits-nest';
import { Controller, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';

const windows = new RateWindows({ maxKeys: 100 });
const rate = windows.define('login', { limit: 1, windowMs: 60_000 });
const first: RateRefusal | undefined = windows.count(rate, 'alice');
const second: RateRefusal | undefined = windows.count(rate, 'alice');
// @ts-expect-error a key is a string
const wrong = () => windows.count(rate, 1);
// @ts-expect-error a rate has a window
const incomplete = () => windows.define('ring', { limit: 1 });

const ledger = new CapLedger();
const cap = ledger.define('pushers', { limit: 1, what: 'pushers' });
const offer = await ledger.reserve(cap, { holder: 'alice', offered: 2 }, () => 0);

@Controller()
class Login {
  @Post('login')
  @Limited('login.source', { limit: 1, windowMs: 60_000, key: bySource() })
  login() {
    return {};
  }
}

@Module({ imports: [LimitsModule.forRoot()], controllers: [Login] })
class App {}

const app = await NestFactory.create<NestFastifyApplication>(App, new FastifyAdapter(), { logger: false });
await app.init();
const statuses: number[] = [];
for (let attempt = 0; attempt < 2; attempt++) {
  statuses.push((await app.inject({ method: 'POST', url: '/login' })).statusCode);
}
await app.close();

console.log(JSON.stringify({
  first: first === undefined,
  second: second?.rate,
  offer: offer.granted,
  json: canonicalJson({ b: 1, a: 2 }),
  status: MatrixError.unrecognized().status,
  statuses,
}));
`;

describe('the packed libraries, installed in a project outside the workspace', () => {
  let folder: string;
  const project = () => join(folder, 'project');
  const run = (program: string, args: string[], cwd: string) =>
    execFileSync(program, args, { cwd, encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } });

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'limits-packed-'));
    run(process.execPath, [join(root, 'tools/pack/pack.mjs'), '--out', join(folder, 'packages')], root);
    mkdirSync(project());
    writeFileSync(join(project(), 'package.json'), JSON.stringify({ name: 'consumer', private: true, type: 'module' }));
    const tarballs = readdirSync(join(folder, 'packages')).map((file) => join(folder, 'packages', file));
    const options = [
      '--offline',
      '--no-audit',
      '--no-fund',
      '--ignore-scripts',
      '--legacy-peer-deps',
      '--loglevel=error',
    ];
    run('npm', ['install', ...options, ...tarballs], project());
    for (const peer of PEERS) symlinkSync(join(root, 'node_modules', peer), join(project(), 'node_modules', peer));
    mkdirSync(join(project(), 'node_modules/@types'));
    symlinkSync(join(root, 'node_modules/@types/node'), join(project(), 'node_modules/@types/node'));
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('hold built files, a README and the licence, and nothing of the workspace', () => {
    for (const name of ['limits-core', 'matrix-protocol', 'limits-nest']) {
      const installed = join(project(), 'node_modules/@headgate', name);
      expect(readdirSync(installed).sort()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json']);
      const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Record<string, unknown>;
      expect(manifest).not.toHaveProperty('private');
      expect(manifest).not.toHaveProperty('nx');
      expect(readdirSync(join(installed, 'dist')).filter((file) => file.includes('spec'))).toEqual([]);
    }
    // One copy: what limits-nest throws is what limits-core exports.
    expect(existsSync(join(project(), 'node_modules/@headgate/limits-nest/node_modules'))).toBe(false);
  });

  test('are used from strict TypeScript with their own types, and work', () => {
    writeFileSync(join(project(), 'consumer.ts'), CONSUMER);
    const compilerOptions = {
      strict: true,
      module: 'nodenext',
      target: 'es2023',
      experimentalDecorators: true,
      emitDecoratorMetadata: true,
      outDir: 'built',
      types: ['node'],
    };
    // The framework's own declarations are not this test's business; those of the packages are, down to the last line.
    writeFileSync(join(project(), 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['consumer.ts'] }));
    run(process.execPath, [tsc(), '-p', '.', '--skipLibCheck'], project());
    const own = ['limits-core', 'matrix-protocol'].map((name) =>
      join('node_modules/@headgate', name, 'dist/index.d.ts'),
    );
    const strict = [
      '--noEmit',
      '--strict',
      '--module',
      'nodenext',
      '--target',
      'es2023',
      '--types',
      'node',
      '--ignoreConfig',
    ];
    run(process.execPath, [tsc(), ...strict, ...own], project());
    expect(JSON.parse(run(process.execPath, ['built/consumer.js'], project()))).toEqual({
      first: true,
      second: 'login',
      offer: false,
      json: '{"a":2,"b":1}',
      status: 404,
      statuses: [201, 429],
    });
  });
});

const tsc = (): string => join(root, 'node_modules/typescript/bin/tsc');
