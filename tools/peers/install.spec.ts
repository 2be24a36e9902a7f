import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { environmentOf, findPeer, installPeer, PEERS } from './install.mjs';

let cache: string;
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), 'peer-cache-'));
});
afterEach(() => rmSync(cache, { recursive: true }));

const pinsOf = (name: string): string[][] =>
  PEERS[name]!.pins.map((file) => readFileSync(file, 'utf8').trim().split('\n'));

describe.each(Object.keys(PEERS))('the installation of %s', (name) => {
  test('is found only when it is complete', () => {
    expect(findPeer(name, { env: {}, cache })).toBeUndefined();
    const folder = environmentOf(name, cache);
    mkdirSync(join(folder, 'lib/python3.11'), { recursive: true });
    expect(findPeer(name, { env: {}, cache })).toBeUndefined();
    writeFileSync(join(folder, 'installed'), '');
    expect(findPeer(name, { env: {}, cache })).toBe(PEERS[name]!.program(folder));
  });

  test('can be replaced by another one', () => {
    expect(findPeer(name, { env: { [PEERS[name]!.variable]: '/opt/program' }, cache })).toBe('/opt/program');
  });

  test('names no registry', () => {
    expect(pinsOf(name).flat().join('\n')).not.toMatch(/:\/\/|index-url/);
  });
});

test.each(['synapse', 'nio', 'valkey', 'python-client', 'envoy'])(
  'every package of %s is pinned by its hash',
  (name) => {
    const [lines = []] = pinsOf(name);
    const packages = lines.filter((line) => /^[a-z]/i.test(line));
    expect(packages.length).toBeGreaterThan(0);
    for (const line of packages) expect(line).toMatch(/^[\w.-]+==[\w.]+ \\$/);
    expect(lines.filter((line) => line.includes('--hash=sha256:')).length).toBeGreaterThanOrEqual(packages.length);
  },
);

describe.each([
  ['etcd', 'kubernetes'],
  ['kube-apiserver', 'kubernetes'],
  ['kubectl', 'kubernetes'],
  ['dendrite', 'dendrite'],
  ['pebble', 'pebble'],
])('the program %s, which is built with Go,', (name, modules) => {
  /**
   * A replacement of Go that writes its arguments and CGO_ENABLED to a file, and builds a program that ends with the
   * given status.
   */
  const fakeGo = (status: number): Record<string, string> => {
    const bin = join(cache, 'fake');
    mkdirSync(bin);
    const script = [
      '#!/bin/sh',
      `echo "CGO_ENABLED=$CGO_ENABLED" "$PWD" "$@" > ${join(cache, 'call')}`,
      'while [ "$1" != -o ]; do shift; done',
      `printf '#!/bin/sh\\nexit ${status}\\n' > "$2"; chmod +x "$2"`,
    ];
    writeFileSync(join(bin, 'go'), script.join('\n'));
    chmodSync(join(bin, 'go'), 0o755);
    return { PATH: `${bin}:/usr/bin:/bin` };
  };

  test('has the hash of every module that is required', () => {
    const [lines = [], sums = []] = pinsOf(name);
    const required = lines.filter((line) => /^\t\S+ v\S+( \/\/ indirect)?$/.test(line)).map((line) => line.trim());
    expect(required.length).toBeGreaterThan(5);
    const replaced = new Map(
      lines.flatMap((line) => {
        const [, from, to, version] = /^\t(\S+) => (\S+) (v\S+)$/.exec(line) ?? [];
        return from && to && version ? [[from, `${to} ${version}`]] : [];
      }),
    );
    for (const line of required) {
      const [module = '', version = ''] = line.split(' ');
      expect(sums.join('\n')).toContain(`${replaced.get(module) ?? `${module} ${version}`}/go.mod h1:`);
    }
  });

  test('is static, of the pinned release, and found afterwards', () => {
    const env = fakeGo(0);
    const program = installPeer(name, { env, cache });
    const call = readFileSync(join(cache, 'call'), 'utf8');
    expect(call).toMatch(new RegExp(`^CGO_ENABLED=0 \\S+/tools/peers/${modules} build -trimpath `));
    expect(call.includes('-X k8s.io/component-base/version.gitVersion=v1.34.4')).toBe(modules === 'kubernetes');
    expect(call).toContain(`-o ${program}`);
    expect(basename(program)).toBe(name);
    expect(findPeer(name, { env: {}, cache })).toBe(program);
  });

  test('is not found when its build takes longer than it may', () => {
    const env = fakeGo(0);
    writeFileSync(join(cache, 'fake/go'), `#!/bin/sh\necho $$ > ${join(cache, 'pid')}\nexec sleep 600\n`);
    expect(() => installPeer(name, { env, cache, timeoutMs: 200 })).toThrow(
      'was ended, because it took longer than 0.2 s.',
    );
    expect(findPeer(name, { env: {}, cache })).toBeUndefined();
    const pid = Number(readFileSync(join(cache, 'pid'), 'utf8'));
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  test('is not found when the built program does not run', () => {
    const env = fakeGo(1);
    expect(() => installPeer(name, { env, cache })).toThrow(/failed\.$/);
    expect(findPeer(name, { env: {}, cache })).toBeUndefined();
  });
});

describe.each(['crowdsec', 'crowdsec-custom-bouncer'])('the package %s', (name) => {
  /** Replacements of the programs of Debian: the package has the given text, and its program ends with 0. */
  const fakeDebian = (text: string): Record<string, string> => {
    const bin = join(cache, 'fake');
    mkdirSync(bin);
    const scripts = {
      'apt-get': `echo "$@" > ${join(cache, 'call')}; printf '${text}' > one.deb`,
      'dpkg-deb': `mkdir -p "$3/usr/bin"; printf '#!/bin/sh\nexit 0\n' > "$3/usr/bin/${name}"; chmod +x "$3/usr/bin/${name}"`,
    };
    for (const [program, script] of Object.entries(scripts))
      writeFileSync(join(bin, program), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return { PATH: `${bin}:/usr/bin:/bin` };
  };

  test('is of the pinned version, and is not unpacked with another hash', () => {
    expect(() => installPeer(name, { env: fakeDebian('other'), cache })).toThrow(
      /^The package \S+ has the hash [0-9a-f]{64}; [0-9a-f]{64} is pinned\.$/,
    );
    expect(readFileSync(join(cache, 'call'), 'utf8')).toMatch(new RegExp(`^download ${name}=\\d`));
    expect(findPeer(name, { env: {}, cache })).toBeUndefined();
  });
});

test('the proxy traefik is built without the modules that it needs for certificates and passwords', () => {
  const [bin, module, call] = ['fake', 'module', 'call'].map((name) => join(cache, name)) as [string, string, string];
  for (const folder of [bin, join(module, 'providers/dns')]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(module, 'read-only.go'), '', { mode: 0o444 });
  const script = `#!/bin/sh
case "$1 $2" in
  'mod download') echo '{ "Dir": "${module}" }' ;;
  'mod edit') echo "$@" >> ${call} ;;
  *)
    echo "CGO_ENABLED=$CGO_ENABLED" "$@" >> ${call}
    cat ../auth/headgate.go ../lego/providers/dns/zz_gen_dns_providers.go pkg/config/dynamic/ext/ext.go >> ${call}
    while [ "$1" != -o ]; do shift; done
    mkdir -p "$(dirname "$2")"; printf '#!/bin/sh\\nexit 0\\n' > "$2"; chmod +x "$2" ;;
esac
`;
  writeFileSync(join(bin, 'go'), script, { mode: 0o755 });
  const program = installPeer('traefik', { env: { PATH: `${bin}:/usr/bin:/bin` }, cache });
  const called = readFileSync(call, 'utf8');
  expect(called).toContain('mod edit -replace=github.com/go-acme/lego/v5=../lego -replace=');
  expect(called).toMatch(/^CGO_ENABLED=0 build -mod=mod -trimpath .* -o \S+\/bin\/traefik \.\/cmd\/traefik$/m);
  for (const name of ['CheckSecret', 'NewDNSChallengeProviderByName', 'package ext']) expect(called).toContain(name);
  expect(readdirSync(environmentOf('traefik', cache)).sort()).toEqual(['bin', 'installed']);
  expect(findPeer('traefik', { env: {}, cache })).toBe(program);
});

test('the modules of traefik are pinned by their hashes', () => {
  const [modules = [], sums = []] = pinsOf('traefik');
  const required = modules.filter((line) => /^\t\S+ v\S+$/.test(line)).map((line) => line.trim());
  expect(required).toHaveLength(3);
  for (const line of required) expect(sums.join('\n')).toContain(`${line} h1:`);
});

test('an unknown peer is refused', () => {
  expect(() => findPeer('constructor')).toThrow(
    'There is no peer "constructor". Choose one of synapse, valkey, python-client, ansible, nio, etcd, kube-apiserver, kubectl, crowdsec, crowdsec-custom-bouncer, traefik, dendrite, pebble, envoy.',
  );
  expect(() => installPeer('redis')).toThrow('There is no peer "redis".');
});
