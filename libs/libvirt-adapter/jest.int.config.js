import preset from '../../jest.preset.js';
import { privateLibvirt } from '../../tools/test/private-libvirt/workers.js';

export default {
  ...preset,
  displayName: 'libvirt-adapter integration',
  testMatch: ['<rootDir>/src/**/*.int.spec.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  testSequencer: '../../tools/test/contracts-first.js',
  // The tests wait for guests most of the time.
  ...privateLibvirt(2),
};
