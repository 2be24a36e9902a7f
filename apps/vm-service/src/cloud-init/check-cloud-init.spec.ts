import 'reflect-metadata';
import { Edge } from '../testing/edge.js';
import { checkCloudInit } from './check-cloud-init.js';

const found = (userData: string) =>
  checkCloudInit(userData).map(({ severity, line, column, message }) => `${line}:${column} ${severity} ${message}`);
const network = (text: string) =>
  checkCloudInit('', text).map(({ part, line, message }) => `${part} ${line} ${message}`);

describe('checkCloudInit', () => {
  test.each([
    ['nothing', ''],
    ['a script', '#!/bin/sh\nexit 0: {'],
    ['a list of URLs', '#include\nhttps://example.org/x'],
    ['only comments', '#cloud-config\n# nothing yet\n'],
    ['a cloud-config', '#cloud-config\nhostname: web\npackages: [nginx]\nssh_pwauth: yes\npassword: 1234\nusers:\n'],
    ['a template', '## template: jinja\n#cloud-config\nhostname: {{ v1.name }}\n'],
  ])('finds no problem with %s', (_title, text) => expect(found(text)).toEqual([]));

  test('finds errors of YAML with their line and column', () => {
    const [first] = checkCloudInit('#cloud-config\npackages: [nginx\nruncmd: []\n');
    expect(first).toMatchObject({ part: 'userData', severity: 'error', line: 3, column: 1 });
    expect(found('#cloud-config\na: 1\na: 2\n')).toEqual([expect.stringMatching(/^3:1 error Map keys must be unique/)]);
  });

  test('finds a missing first line, also with a space before it', () => {
    for (const text of ['hostname: web\n', ' #cloud-config\nhostname: web\n'])
      expect(found(text)).toEqual([expect.stringMatching(/^1:1 error The first line must be #cloud-config/)]);
  });

  test('finds keys that nothing reads, and values of the wrong kind', () => {
    expect(found('#cloud-config\npackage: [nginx]\nruncmd: reboot\nusers: [ann]\nhostname: [a]\n')).toEqual([
      '2:1 warning package is no key that cloud-init is known to read.',
      '3:9 error runcmd must be a list.',
      '5:11 error hostname must be a text.',
    ]);
    expect(found('#cloud-config\nconstructor: 1\n')).toHaveLength(1);
  });

  test('finds a text that is no mapping', () =>
    expect(found('#cloud-config\n- nginx\n')).toEqual([expect.stringMatching(/^1:1 error It must be a mapping/)]));

  test('refuses aliases without expanding them', () => {
    const lines = ['#cloud-config', 'a0: &a0 [x]'];
    for (let i = 1; i < 60; i++) lines.push(`a${i}: &a${i} [${`*a${i - 1},`.repeat(9)}]`);
    expect(found(lines.join('\n'))).toEqual([expect.stringMatching(/^3:10 error The alias \*a0 is refused/)]);
  });

  test('refuses a text that is nested too deeply without reading it', () => {
    for (const opening of ['[', '{', '[a, ', '- ', '? '])
      expect(found(`#cloud-config\nruncmd: ${opening.repeat(60_000)}`)).toEqual([
        '1:1 error It is nested more than 200 levels deep.',
      ]);
  });

  test('reports at most 50 problems', () => {
    const text = Array.from({ length: 80 }, (_, i) => `key${i}: 1`).join('\n');
    expect(found(`#cloud-config\n${text}\n`)).toHaveLength(50);
  });

  test('checks a network configuration by its version', () => {
    expect(network('version: 2\nethernets: {}\n')).toEqual([]);
    expect(network('version: 3\n')).toEqual(['networkConfig 1 version must be 1 or 2.']);
    expect(network('version: 1\nethernets: {}\n')).toEqual([
      'networkConfig 2 ethernets is no key that cloud-init is known to read.',
    ]);
    expect(network('version: 2\nethernets: []\n')).toEqual(['networkConfig 2 ethernets must be a mapping.']);
  });
});

describe('POST /api/ext/cloud-init/check', () => {
  let edge: Edge;
  beforeEach(async () => (edge = await new Edge().open()));
  afterEach(() => edge.close());

  const check = (body: object) => edge.send('POST', '/api/ext/cloud-init/check', body);

  test('answers with the problems', async () => {
    const { status, json } = await check({ userData: '#cloud-config\nruncmd: x\n' });
    expect([status, json]).toEqual([
      200,
      {
        problems: [{ part: 'userData', severity: 'error', message: 'runcmd must be a list.', line: 2, column: 9 }],
      },
    ]);
  });

  test('refuses texts that are too large', async () => {
    expect((await check({ userData: 'x'.repeat(262_145) })).status).toBe(400);
    expect((await check({ userData: '', networkConfig: 'x'.repeat(65_537) })).status).toBe(400);
  });
});
