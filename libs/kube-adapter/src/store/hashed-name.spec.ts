import { hashedName } from './hashed-name.js';

test('the name of a stored object never changes, because later releases look for it', () => {
  expect(hashedName('token', 'Nightly job')).toBe('token-c06028181be3814a0b7302b5066a40390f4e73e8');
  expect(hashedName('token', `${'x'.repeat(5_000)} ü/..`)).toMatch(/^token-[0-9a-f]{40}$/);
});
