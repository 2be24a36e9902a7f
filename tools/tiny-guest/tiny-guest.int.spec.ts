import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '../local/machine.mjs';
import { buildTinyGuest } from './build.mjs';
import { logIn } from './driving/console-login.mjs';
import { Guest } from './driving/guest.mjs';
import { writeSeedIso } from './driving/seed-iso.mjs';
import { DEFAULT_PASSWORD, DEFAULT_USER } from './rootfs.mjs';

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExampleExampleExampleExampleExampleExample someone@example';

const USER_DATA = `#cloud-config
hostname: web-7
password: "it's #1"
chpasswd:
  expire: false
  list: |
    root:r00t
ssh_authorized_keys:
  - ${KEY}
users:
  - default
  - name: ada
    lock_passwd: false
    plain_text_passwd: countess
    ssh_authorized_keys: ["${KEY}"]
runcmd:
  - echo "ran once" >> /data/ran
  - [touch, "/data/a b"]
`;

let image: Awaited<ReturnType<typeof buildTinyGuest>>;
let folder: string;
let disk: string;
let guest: Guest | undefined;

// The suite is skipped, with the reason in its title, if a required program is missing.
const missing = ['qemu-system-x86_64', 'qemu-img', 'xorriso', 'apt-get'].filter((program) => !findProgram(program));

beforeAll(async () => {
  if (missing.length > 0) return;
  image = await buildTinyGuest({ log: (line) => process.stderr.write(`${line}\n`) });
}, 300_000);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tiny-guest-spec-'));
  disk = join(folder, 'disk.qcow2');
  execFileSync('qemu-img', ['create', '-q', '-f', 'qcow2', '-F', 'qcow2', '-b', image.path, disk]);
});

afterEach(async () => {
  await guest?.destroy();
  guest = undefined;
  rmSync(folder, { recursive: true, force: true });
});

/** Boots a guest up to its login prompt and prints the time, which no test depends on. */
async function boot(options: Partial<Parameters<typeof Guest.start>[0]> = {}): Promise<Guest> {
  guest = await Guest.start({ disk, ...options });
  await guest.serial.expect(/login: /, 110_000);
  process.stderr.write(`login prompt after ${((Date.now() - guest.startedAt) / 1000).toFixed(1)} s\n`);
  return guest;
}

const signIn = (user = DEFAULT_USER, password = DEFAULT_PASSWORD) => logIn(guest!.serial, user, password);
const shell = async (command: string) => (await guest!.serial.shell(command)).output;

/** Waits inside the guest until a shell condition is true. */
const until = (condition: string) => shell(`until ${condition}; do usleep 50000; done`);

async function powerOff(): Promise<number | null> {
  await guest!.monitor.call('system_powerdown');
  return guest!.exit;
}

const suite = missing.length > 0 ? describe.skip : describe;
suite(missing.length > 0 ? `the tiny guest (skipped: no ${missing.join(', ')})` : 'the tiny guest', () => {
  test('is smaller than 64 MiB, on the host and as the guest sees it', () => {
    expect(statSync(image.path).size).toBeLessThan(64 * 1024 * 1024);
    expect(image.virtualSizeBytes).toBeLessThan(64 * 1024 * 1024);
    const info = JSON.parse(execFileSync('qemu-img', ['info', '--output=json', image.path], { encoding: 'utf8' }));
    expect(info).toMatchObject({ format: 'qcow2', 'virtual-size': image.virtualSizeBytes });
  });

  test('boots, shows its login, gets an address, keeps files across a reboot, and shuts down on the power button', async () => {
    const { serial } = await boot();
    expect(serial.transcript).toContain(`Log in as ${DEFAULT_USER}, password ${DEFAULT_PASSWORD}.`);
    expect(await signIn()).toBe(true);
    expect(await shell('id -un; hostname')).toBe('headgate\ntiny');
    await until('ip -4 addr show eth0 | grep -q 10.0.2.15');
    await until('grep -q 10.0.2.3 /etc/resolv.conf');

    await shell('echo kept > /data/file; echo kept > ~/file');
    serial.send('reboot\r');
    await serial.expect(/going down/);
    await serial.expect(/login: /, 110_000);
    expect(await signIn()).toBe(true);
    expect(await shell('cat /data/file ~/file')).toBe('kept\nkept');

    expect(await powerOff()).toBe(0);
  });

  test('rejects a wrong password and root', async () => {
    await boot();
    expect(await signIn(DEFAULT_USER, 'wrong')).toBe(false);
    await guest!.serial.expect(/login: /);
    expect(await signIn('root', '')).toBe(false);
  });

  test('responds to the guest agent, and shuts down on its command', async () => {
    await boot();
    const agent = await guest!.agent();
    expect(await agent.call('guest-ping')).toEqual({});
    expect(await agent.call('guest-get-host-name')).toEqual({ 'host-name': 'tiny' });
    expect(await agent.call('guest-get-osinfo')).toMatchObject({ id: 'headgate-tiny', 'version-id': image.version });
    const interfaces: { name: string }[] = await agent.call('guest-network-get-interfaces');
    expect(interfaces.map(({ name }) => name)).toContain('eth0');
    expect(await agent.call('guest-fsfreeze-freeze')).toBeGreaterThan(0);
    expect(await agent.call('guest-fsfreeze-thaw')).toBeGreaterThan(0);

    // The agent exits instead of responding.
    void agent.call('guest-shutdown', { timeoutMs: 1 }).catch(() => undefined);
    expect(await guest!.exit).toBe(0);
    agent.close();
  });

  test('applies host name, passwords, keys and commands of a seed once per instance ID', async () => {
    const seed = await writeSeedIso(folder, {
      metaData: 'instance-id: i-1\nlocal-hostname: other\n',
      userData: USER_DATA,
    });
    await boot({ seed });
    expect(guest!.serial.transcript).toContain('Log in as its cloud-init seed says.');
    expect(guest!.serial.transcript).toContain('web-7 login:');
    expect(await signIn(DEFAULT_USER, "it's #1")).toBe(true);
    expect(await shell('cat ~/.ssh/authorized_keys')).toBe(KEY);
    expect(await shell('stat -c "%a %U" ~/.ssh ~/.ssh/authorized_keys')).toBe('700 headgate\n600 headgate');
    await until('[ -e "/data/a b" ]');
    expect(await shell('cat /data/ran')).toBe('ran once');

    guest!.serial.send('exit\r');
    await guest!.serial.expect(/login: /);
    expect(await signIn('ada', 'countess')).toBe(true);
    expect(await shell('cat ~/.ssh/authorized_keys')).toBe(KEY);
    guest!.serial.send('exit\r');
    await guest!.serial.expect(/login: /);
    expect(await signIn('root', 'r00t')).toBe(true);
    // init resets the terminals of the programs that it starts, and a login prompt that is reset takes no password.
    const terminals = 'for fd in /proc/[0-9]*/fd/0; do [ $fd = /proc/1/fd/0 ] || readlink $fd; done';
    expect(await shell(`${terminals} | grep -c -e console`)).toBe('0');
    expect(await shell(`${terminals} | grep -c -e ttyS0`)).not.toBe('0');

    // The second boot does not apply the seed again.
    await shell('echo "headgate:changed" | chpasswd');
    guest!.serial.send('reboot\r');
    await guest!.serial.expect(/login: /, 110_000);
    expect(await signIn(DEFAULT_USER, 'changed')).toBe(true);
    expect(await shell('hostname; cat /data/ran')).toBe('web-7\nran once');
    expect(await powerOff()).toBe(0);
    await guest!.destroy();

    // A clone has a different instance-id.
    const other = { metaData: 'instance-id: i-2\n', userData: '#cloud-config\nhostname: web-8\npassword: second\n' };
    await boot({ seed: await writeSeedIso(folder, other) });
    expect(await signIn(DEFAULT_USER, 'second')).toBe(true);
    expect(await shell('hostname')).toBe('web-8');
  }, 400_000);

  test('shows its prompt on the graphical console, and accepts keyboard input there', async () => {
    await boot();
    const picture = join(folder, 'screen.ppm');
    await guest!.screenshot(picture);
    expect(countColors(picture)).toBeGreaterThan(1);

    // The serial console shows the effect of the keyboard on the graphical one.
    expect(await signIn()).toBe(true);
    await type(`${DEFAULT_USER}\n`);
    await until('[ "$(ps | grep -c \'[l]ogin -- headgate\')" = 2 ]');
    // The terminal belongs to the user who has logged in on it.
    let owner = 'root';
    for (let attempt = 0; owner !== DEFAULT_USER && attempt < 5; attempt++) {
      // login flushes its input after the prompt, so this may be lost.
      await type(`${DEFAULT_PASSWORD}\n`);
      await shell('n=0; until [ -O /dev/tty1 ] || [ $n = 100 ]; do usleep 50000; n=$((n + 1)); done');
      owner = await shell('stat -c %U /dev/tty1');
    }
    expect(owner).toBe(DEFAULT_USER);
    await type('poweroff\n');
    expect(await guest!.exit).toBe(0);
  });

  test.each([
    ['pc', 'ide'],
    ['q35', 'scsi'],
  ] as const)('boots on a %s machine from a %s disk, and keeps files there', async (machine, bus) => {
    await boot({ machine, bus });
    expect(await signIn()).toBe(true);
    expect(await shell('grep -c " / ext4 " /proc/mounts')).toBe('1');
    expect(await powerOff()).toBe(0);
  });

  test('grows its file system when the disk was enlarged', async () => {
    execFileSync('qemu-img', ['resize', '-q', disk, '256M']);
    await boot();
    expect(await signIn()).toBe(true);
    const kibibytes = Number(await shell("df -k / | awk 'NR == 2 { print $2 }'"));
    expect(kibibytes).toBeGreaterThan(180 * 1024);
    expect(await powerOff()).toBe(0);
  });
});

/**
 * Types on the guest's keyboard, one key at a time, slowly: it queues 16 bytes and drops what a busy guest has not
 * read.
 */
async function type(text: string): Promise<void> {
  for (const key of text) {
    const keys = [{ type: 'qcode', data: key === '\n' ? 'ret' : key }];
    await guest!.monitor.call('send-key', { arguments: { keys, 'hold-time': 50 } });
  }
}

/** Number of distinct colors in a PPM image. */
function countColors(file: string): number {
  const pixels = readFileSync(file).subarray(15);
  const seen = new Set<number>();
  for (let at = 0; at + 3 <= pixels.length; at += 3) seen.add(pixels.readUIntBE(at, 3));
  return seen.size;
}
