import preset from '../../jest.preset.js';

export default {
  ...preset,
  displayName: 'incus-adapter integration',
  testMatch: ['<rootDir>/src/**/*.int.spec.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  testSequencer: '../../tools/test/contracts-first.js',
  maxWorkers: 2,
};
