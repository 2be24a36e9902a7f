import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SERVICE_VERSION } from './service-version.js';

test('the release of the service is that of its package', () => {
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as {
    version: string;
  };
  expect(SERVICE_VERSION).toBe(version);
});
