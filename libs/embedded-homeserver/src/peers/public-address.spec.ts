import { isPublicAddress, publicLookup } from './public-address.js';
import { PeerClient } from './peer-client.js';

describe('isPublicAddress', () => {
  test.each([['1.1.1.1'], ['2606:4700:4700::1111'], ['::ffff:8.8.8.8']])('accepts %s', (address) =>
    expect(isPublicAddress(address)).toBe(true),
  );

  test.each([
    ['127.0.0.1'],
    ['10.1.2.3'],
    ['172.31.0.1'],
    ['192.168.1.1'],
    ['169.254.169.254'],
    ['100.64.0.1'],
    ['0.0.0.0'],
    ['255.255.255.255'],
    ['::1'],
    ['::'],
    ['fe80::1'],
    ['fd00::1'],
    ['::ffff:127.0.0.1'],
    ['::ffff:7f00:1'],
    ['64:ff9b::7f00:1'],
    ['2002:7f00:1::'],
    ['ff02::1'],
    ['nonsense'],
  ])('refuses %s', (address) => expect(isPublicAddress(address)).toBe(false));
});

describe('publicLookup', () => {
  test('returns no address for a name that has only private ones', (done) => {
    publicLookup('localhost', { all: true }, (error, addresses) => {
      expect(error?.name).toBe('PrivateAddressError');
      expect(addresses).toEqual([]);
      done();
    });
  });
});

describe('PeerClient', () => {
  test.each([['127.0.0.1:8448'], ['[::1]:8448'], ['169.254.169.254'], ['10.0.0.1:80'], ['localhost:8008']])(
    'does not connect to the private address %s',
    async (server) => {
      await expect(new PeerClient({}).getJson(server, '/x')).rejects.toThrow(/public address/);
    },
  );
});
