export default {
  displayName: 'homeserver-limits-e2e',
  preset: '../../jest.preset.js',
  testTimeout: 240_000,
  maxWorkers: 2,
};
