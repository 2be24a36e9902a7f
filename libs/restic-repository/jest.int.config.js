import preset from '../../jest.preset.js';

// Against the real restic.
export default {
  ...preset,
  displayName: 'restic-repository integration',
  testMatch: ['<rootDir>/src/**/*.int.spec.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
};
