import { acceptsEncoding } from './accept-encoding.js';

describe('acceptsEncoding', () => {
  test.each([
    ['gzip', true],
    ['gzip, deflate, br, zstd', true],
    ['br;q=1.0, GZIP;q=0.5', true],
    ['*', true],
    ['identity, *;q=0.1', true],
    ['gzip;q=0, *', false],
    ['gzip ; q=0', false],
    ['*;q=0', false],
    ['x-gzip', false],
    ['gzip;q=many', false],
    ['', false],
    [undefined, false],
  ])('reads %p', (header, accepted) => {
    expect(acceptsEncoding(header, 'gzip')).toBe(accepted);
  });
});
