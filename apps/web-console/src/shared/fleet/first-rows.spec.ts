import { readFileSync } from 'node:fs';
import { firstRowsAddress } from './first-rows.js';

test('index.html preloads the first VMs, from the address that the page requests', () => {
  const html = readFileSync('index.html', 'utf8');
  const [, address] = /<link rel="preload" as="fetch" crossorigin href="([^"]+)"/.exec(html) ?? [];
  expect(address).toBe(firstRowsAddress('/api/vms'));
});
