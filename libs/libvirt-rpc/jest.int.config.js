import preset from '../../jest.preset.js';

// Against the libvirt of this machine: one after another, because they share it.
export default {
  ...preset,
  displayName: 'libvirt-rpc integration',
  testMatch: ['<rootDir>/src/**/*.int.spec.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  maxWorkers: 1,
};
