import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FixedClock } from '@headgate/testing';
import { serving, servingWith } from '../testing/build-plugin.js';
import { PluginProcess } from './plugin-process.js';

const CALL_MS = 5000;

describe('PluginProcess', () => {
  const clock = new FixedClock(0);
  let folder: string;
  let plugin: PluginProcess | undefined;

  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'headgate-plugin-'))));
  afterEach(async () => {
    plugin?.kill('was ended by the test');
    await plugin?.ended;
    plugin = undefined;
    rmSync(folder, { recursive: true });
  });

  const start = (code: string): PluginProcess => {
    const args = ['--input-type=module', '--eval', code];
    const command = { program: process.execPath, args, env: {} };
    plugin = new PluginProcess({ name: 'sample', command, workFolder: folder, clock });
    return plugin;
  };
  const failing = (problem: RegExp) => ({
    code: 'PLUGIN_FAILED',
    message: expect.stringMatching(problem) as string,
  });
  /** Answers the first request with this text instead of a response. */
  const answering = (expression: string): string =>
    `process.stdin.once('data', () => process.stdout.write(${expression}));`;

  test('answers calls, also several at the same time and with texts of several lines', async () => {
    const process = start(serving());
    const text = 'a\nb\u2028"é"'.repeat(1000);
    expect(await Promise.all([1, text, null].map((value) => process.call('echo', value, CALL_MS)))).toEqual([
      1,
      text,
      null,
    ]);
    await process.stop();
    expect(await process.ended).toBe('exited with status 0');
  });

  test('passes on the error of a method, and continues', async () => {
    const process = start(servingWith(`{ fail: () => { throw new Error('no \\u001b[31m luck') } }`));
    await expect(process.call('fail', {}, CALL_MS)).rejects.toMatchObject(
      failing(/^The plugin sample reports: no \[31m luck$/),
    );
    expect(await process.call('echo', 1, CALL_MS)).toBe(1);
  });

  test.each<[title: string, code: string, problem: RegExp]>([
    [
      'exits with the reason on standard error',
      `console.error('starting'); console.error('no such \\u001b[2Jthing'); process.exitCode = 3;`,
      /^The plugin sample exited with status 3\. Its log ends with: no such \[2Jthing$/,
    ],
    ['throws', `throw new Error('broken')`, /exited with status 1/],
    ['is killed', `process.kill(process.pid, 'SIGKILL')`, /was ended by SIGKILL/],
    ['writes garbage', answering(`'<html>\\n'`), /sent a line that is not a response: <html>/],
    ['writes JSON that is no response', answering(`'[1]\\n'`), /sent a line that is not a response: \[1\]/],
    ['answers twice', answering(`'{"id":1,"result":1,"error":"x"}\\n'`), /sent a line that is not a response/],
    ['answers another request', answering(`'{"id":7,"result":1}\\n'`), /sent a line that is not a response/],
    [
      'sends a huge message',
      answering(`'{"id":1,"result":"' + 'x'.repeat(3e6) + '"}\\n'`),
      /sent a message of more than 1048576 bytes/,
    ],
    [
      'never ends its output',
      `const more = () => process.stdout.write('x'.repeat(65536), more); more();`,
      /sent a message of more than 1048576 bytes/,
    ],
    [
      'never ends its errors',
      `const more = () => process.stderr.write('x'.repeat(65536), more); more();`,
      /wrote too much to standard error/,
    ],
  ])('fails the call of a plugin that %s', async (_title, code, problem) => {
    const process = start(code);
    await expect(process.call('describe', {}, CALL_MS)).rejects.toMatchObject(failing(problem));
    await process.ended;
    await expect(process.call('describe', {}, CALL_MS)).rejects.toMatchObject(failing(problem));
    expect(process.log.text().length).toBeLessThanOrEqual(65_536);
  });

  test('ends a plugin that does not answer in time, with all its calls', async () => {
    const process = start(servingWith(`{ hang: () => { for (;;); } }`));
    await process.call('echo', 1, CALL_MS);
    const calls = [process.call('hang', {}, CALL_MS), process.call('echo', 2, 2 * CALL_MS)];
    const outcomes = Promise.allSettled(calls);
    clock.advance(CALL_MS);
    for (const outcome of await outcomes)
      expect(outcome).toMatchObject({ reason: failing(/did not answer "hang" within 5 s/) });
    expect(await process.ended).toMatch(/did not answer/);
    expect(clock.pending).toBe(0);
  });

  test('ends a plugin that ignores the end of its input', async () => {
    const process = start(`setInterval(() => undefined, 1000); process.on('SIGTERM', () => undefined);`);
    const stopped = process.stop();
    clock.advance(2000);
    await stopped;
    expect(await process.ended).toBe('did not exit');
  });

  test('reports a program that can not be started', async () => {
    const command = { program: join(folder, 'none'), args: [], env: {} };
    plugin = new PluginProcess({ name: 'sample', command, workFolder: folder, clock });
    await expect(plugin.call('describe', {}, CALL_MS)).rejects.toMatchObject(failing(/could not be started/));
  });

  test('refuses a request that is too large, and the plugin lives on', async () => {
    const process = start(serving());
    await expect(process.call('echo', 'x'.repeat(2e6), CALL_MS)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    expect(await process.call('echo', 1, CALL_MS)).toBe(1);
  });
});
