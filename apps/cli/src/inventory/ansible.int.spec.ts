import { execFile, spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { FakeService } from '../testing/fake-service.js';
import { containerView, vmView } from '../testing/instances.js';
import { Cli } from '../testing/run-cli.js';

const run = promisify(execFile);
const INSTALLER = join(import.meta.dirname, '../../../../tools/peers/install.mjs');
const found = spawnSync(process.execPath, [INSTALLER, '--find', 'ansible'], { encoding: 'utf8' });
const ansibleInventory = found.status === 0 ? found.stdout.trim() : undefined;
const why = ansibleInventory ? '' : ': skipped, ansible is not installed (node tools/peers/install.mjs ansible)';

(ansibleInventory ? describe : describe.skip)(`Ansible with the inventory${why}`, () => {
  let service: FakeService;
  let cli: Cli;

  beforeAll(async () => {
    service = await FakeService.open();
    cli = new Cli({ HEADGATE_SERVER: service.url });
    const evil = `{{ lookup('pipe', 'touch ${join(cli.home, 'pwned')}') }}`;
    service.json('GET /api/vms', [
      vmView({ folder: 'prod/web', os: 'Debian 12' }),
      vmView({ name: 'web-2', os: evil, ip: evil, node: evil, tags: [evil, 'all'] }),
      vmView({ name: evil }),
    ]);
    service.json('GET /api/cts', [containerView({ name: 'web-1', context: 'prod' })]);
    const { stdout } = await cli.run(['inventory', '--list']);
    writeFileSync(join(cli.home, 'hosts.json'), stdout);
    writeFileSync(join(cli.home, 'headgate'), `#!/bin/sh\ncat '${cli.home}/hosts.json'\n`, { mode: 0o755 });
  });
  afterAll(async () => {
    cli?.remove();
    await service?.close();
  });

  /** Runs a program of Ansible with the inventory. */
  const ansible = async (program: string, ...args: string[]): Promise<string> => {
    const env = { PATH: process.env['PATH'], HOME: cli.home, ANSIBLE_NOCOLOR: '1', LC_ALL: 'C.UTF-8' };
    const { stdout } = await run(program, ['-i', join(cli.home, 'headgate'), ...args], { env, cwd: cli.home });
    return stdout;
  };

  test('has the hosts with their variables, and the groups', async () => {
    const inventory = JSON.parse(await ansible(ansibleInventory!, '--list')) as Record<string, { hosts?: string[] }> & {
      _meta: { hostvars: Record<string, object> };
    };
    expect(inventory._meta.hostvars['web-1.default.lab']).toMatchObject({
      ansible_host: '192.0.2.7',
      headgate_ref: 'vm/lab/default/web-1',
      headgate_os: 'Debian 12',
    });
    expect(inventory['folder_prod_web']?.hosts).toEqual(['web-1.default.lab']);
    expect(inventory['context_prod']?.hosts).toEqual(['web-1.default.prod']);
    expect(inventory['tag_all']?.hosts).toEqual(['web-2']);
    expect(Object.keys(inventory._meta.hostvars)).toHaveLength(4);
  });

  test('evaluates nothing that a guest or an engine has named', async () => {
    const program = join(dirname(ansibleInventory!), 'ansible');
    const output = await ansible(
      program,
      'all',
      '-c',
      'local',
      '-m',
      'debug',
      '-a',
      'var=hostvars[inventory_hostname]',
    );
    expect(output.match(/SUCCESS/g)).toHaveLength(4);
    expect(existsSync(join(cli.home, 'pwned'))).toBe(false);
  });
});
