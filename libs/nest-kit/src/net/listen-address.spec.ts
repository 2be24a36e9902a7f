import { ListenAddress } from './listen-address.js';

describe('ListenAddress', () => {
  test.each([
    ['127.0.0.1:8006', '127.0.0.1', 8006, true, false, 'http://127.0.0.1:8006'],
    ['localhost:0', 'localhost', 0, true, false, 'http://localhost:0'],
    ['[::1]:80', '::1', 80, true, false, 'http://[::1]:80'],
    ['0.0.0.0:8006', '0.0.0.0', 8006, false, true, 'http://127.0.0.1:8006'],
    ['[::]:8006', '::', 8006, false, true, 'http://127.0.0.1:8006'],
    ['192.0.2.7:65535', '192.0.2.7', 65_535, false, false, 'http://192.0.2.7:65535'],
  ])('reads %s', (text, host, port, isLoopback, isWildcard, url) => {
    const address = ListenAddress.parse(text);
    expect(address).toMatchObject({ host, port, isLoopback, isWildcard });
    expect([String(address), address.urlOn()]).toEqual([text, url]);
  });

  test.each(['8006', 'localhost', '::1:80', 'a b:80', '127.0.0.1:65536', '127.0.0.1:', ''])('refuses «%s»', (text) => {
    expect(ListenAddress.isValid(text)).toBe(false);
    expect(() => ListenAddress.parse(text)).toThrow('is not HOST:PORT');
  });
});
