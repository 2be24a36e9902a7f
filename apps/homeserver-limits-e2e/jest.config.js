export default {
  displayName: 'homeserver-limits-e2e',
  preset: '../../jest.preset.js',
  testTimeout: 60_000,
  maxWorkers: 2,
};
