import { isPublicAddress, publicLookup } from './public-address.js';
import { PeerClient } from './peer-client.js';

describe('isPublicAddress', () => {
  test.each([['1.1.1.1'], ['2606:4700:4700::1111'], ['::ffff:8.8.8.8']])('takes %s', (address) =>
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
  test('gives no address for a name that only has private ones', (done) => {
    publicLookup('localhost', { all: true }, (error, addresses) => {
      expect(error?.name).toBe('PrivateAddressRefused');
      expect(addresses).toEqual([]);
      done();
    });
  });
});

describe('PeerClient', () => {
  test.each([['127.0.0.1:8448'], ['[::1]:8448'], ['169.254.169.254'], ['10.0.0.1:80'], ['localhost:8008']])(
    'connects to no private address, asked as %s',
    async (server) => {
      await expect(new PeerClient({}).getJson(server, '/x')).rejects.toThrow(/public address/);
    },
  );
});
