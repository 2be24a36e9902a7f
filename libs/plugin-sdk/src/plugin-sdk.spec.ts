import { join } from 'node:path';
import { pluginContract } from './testing/plugin.contract.js';

const failing = (method: string, problem: RegExp) => ({
  method,
  params: {},
  expectError: (error: string) => expect(error).toMatch(problem),
});

pluginContract('a sample over the SDK', () => ({
  name: 'sample',
  version: '1.0.0',
  ability: 'doctor-checks',
  command: [process.execPath, join(import.meta.dirname, 'testing/sample-plugin.ts')],
  calls: [
    { method: 'checks', params: {}, expect: (result) => expect(result).toEqual([]) },
    { method: 'echo', params: 'a\u2028\n"b"', expect: (result) => expect(result).toBe('a\u2028\n"b"') },
    // Texts for people don't mix with responses.
    { method: 'print', params: {}, expect: (result) => expect(result).toBeNull() },
    failing('large', /larger than 1048576 bytes/),
    failing('fail', /^no luck$/),
    failing('toString', /no method toString/),
  ],
}));
