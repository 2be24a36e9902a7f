export default { displayName: 'vm-service-e2e', preset: '../../jest.preset.js', maxWorkers: 1, testTimeout: 400_000 };
