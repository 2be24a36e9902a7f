import { ListenAddress } from '@headgate/nest-kit';
import { pointsTo } from './points-to.js';

test.each([
  ['127.0.0.1:8008', '127.0.0.1', 8008],
  ['[::1]:80', '::1', 80],
  ['example.org:443', 'example.org', 443],
])('the listener %s has its host and port', (listen, host, port) =>
  expect(ListenAddress.parse(listen)).toMatchObject({ host, port }),
);

test.each([
  ['http://127.0.0.1:8008', '127.0.0.1:8008', true],
  ['http://localhost:8008', '127.0.0.1:8008', true],
  ['http://localhost:8008', '[::]:8008', true],
  ['http://[::1]:8008', '0.0.0.0:8008', true],
  ['http://10.0.0.5', '10.0.0.5:80', true],
  ['https://10.0.0.5', '10.0.0.5:443', true],
  ['http://127.0.0.1:8448', '127.0.0.1:8008', false],
  ['http://10.0.0.6:8008', '0.0.0.0:8008', false],
  ['http://10.0.0.5:8008', '127.0.0.1:8008', false],
])('pointsTo: %s from a listener on %s is %s', (upstream, listen, itself) =>
  expect(pointsTo(upstream, listen)).toBe(itself),
);
