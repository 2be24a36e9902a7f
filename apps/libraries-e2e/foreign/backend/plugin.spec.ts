import { join } from 'node:path';
import { pluginContract } from '@headgate/plugin-sdk/testing';
import { expect } from '@jest/globals';

pluginContract('served by the packed SDK', () => ({
  name: 'foreign',
  version: '1.0.0',
  ability: 'doctor-checks',
  command: [process.execPath, join(process.cwd(), 'built/programs/plugin.js')],
  calls: [
    {
      method: 'checks',
      params: {},
      expect: (result) => expect(result).toEqual([expect.objectContaining({ name: 'clock', status: 'ok' })]),
    },
  ],
}));
