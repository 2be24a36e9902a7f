import type { LookupAddress } from 'node:dns';
import { EgressPolicy, type EgressOptions } from './egress-policy.js';

const NO_ADDRESSES = (): string[] => [];

describe('EgressPolicy', () => {
  const policy = (options: EgressOptions = {}) => new EgressPolicy({ ownAddresses: NO_ADDRESSES, ...options });

  test.each([
    '127.0.0.1', '127.8.8.8', '0.0.0.0', '10.1.2.3', '172.16.0.1', '192.168.1.1', '169.254.169.254', '100.64.0.1',
    '224.0.0.1', '255.255.255.255', '::1', '::', 'fe80::1', 'fe80::1%eth0', 'fd00::1', '::ffff:127.0.0.1',
    '::ffff:7f00:1', '64:ff9b::7f00:1', '2002:7f00:1::', 'nonsense',
  ])('refuses %s', (address) => expect(policy().isAllowed(address)).toBe(false)); // prettier-ignore

  test.each(['1.1.1.1', '93.184.216.34', '2606:4700::1111'])('allows %s', (address) =>
    expect(policy().isAllowed(address)).toBe(true),
  );

  test('refuses the addresses of this machine', () => {
    expect(policy({ ownAddresses: () => ['93.184.216.34'] }).isAllowed('93.184.216.34')).toBe(false);
  });

  test('allows the exceptions of the operator', () => {
    const relaxed = policy({ allow: ['10.0.0.0/8', '192.168.1.5', 'fd00::/8'] });
    expect(['10.9.9.9', '192.168.1.5', 'fd12::1'].map((address) => relaxed.isAllowed(address))).toEqual([
      true,
      true,
      true,
    ]);
    expect(['192.168.1.6', '127.0.0.1'].map((address) => relaxed.isAllowed(address))).toEqual([false, false]);
  });

  test.each(['10.0.0.0/33', '1.2.3', 'a b', '', 'http://host'])('rejects the exception %j', (entry) =>
    expect(() => policy({ allow: [entry] })).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' })),
  );

  test.each(['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]'])('refuses the literal %s', (host) =>
    expect(() => policy().checkLiteral(new URL(`http://${host}/`))).toThrow('SVC_IMPORT_ALLOW'),
  );

  test.each(['http://0x7f.1/', 'http://2130706433/', 'http://127.1/'])(
    'refuses %s, another notation of loopback',
    (url) => expect(() => policy().checkLiteral(new URL(url))).toThrow('SVC_IMPORT_ALLOW'),
  );
});

describe('the lookup of an EgressPolicy', () => {
  const answers = (...addresses: string[]): LookupAddress[] =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  const lookUp = (policy: EgressPolicy, host: string, url = `http://${host}/`) =>
    new Promise((resolve, reject) =>
      policy.lookupFor(new URL(url))(host, { all: true }, (error, addresses) =>
        error ? reject(error) : resolve(addresses),
      ),
    );

  test('returns only the allowed addresses of a name', async () => {
    const policy = new EgressPolicy({ resolve: () => Promise.resolve(answers('10.0.0.1', '1.1.1.1', '::1')) });
    expect(await lookUp(policy, 'host.example')).toEqual(answers('1.1.1.1'));
  });

  test('fails for a name that has only private addresses, each time it is resolved', async () => {
    // A name that first resolves to a public address, and then to a private one.
    const rebinding = [answers('1.1.1.1'), answers('127.0.0.1')];
    const policy = new EgressPolicy({ resolve: () => Promise.resolve(rebinding.shift() ?? []) });
    expect(await lookUp(policy, 'host.example')).toEqual(answers('1.1.1.1'));
    await expect(lookUp(policy, 'host.example')).rejects.toMatchObject({ code: 'INVALID_SOURCE' });
  });

  test('allows private addresses of a host name that the operator allows', async () => {
    const options = { allow: ['mirror.lan'], resolve: () => Promise.resolve(answers('10.0.0.1')) };
    expect(await lookUp(new EgressPolicy(options), 'Mirror.lan')).toEqual(answers('10.0.0.1'));
    const withPort = { ...options, allow: ['mirror.lan:5000', '127.0.0.1:5000'] };
    expect(await lookUp(new EgressPolicy(withPort), 'mirror.lan', 'https://mirror.lan:5000/')).toEqual(
      answers('10.0.0.1'),
    );
    await expect(lookUp(new EgressPolicy(withPort), 'mirror.lan')).rejects.toMatchObject({ code: 'INVALID_SOURCE' });
    new EgressPolicy(withPort).checkLiteral(new URL('http://127.0.0.1:5000/'));
    expect(() => new EgressPolicy(withPort).checkLiteral(new URL('http://127.0.0.1:8006/'))).toThrow('private');
    await expect(lookUp(new EgressPolicy(options), 'other.lan')).rejects.toMatchObject({ code: 'INVALID_SOURCE' });
  });
});
