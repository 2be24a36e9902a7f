export default { displayName: 'vm-service-e2e', preset: '../../jest.preset.js' };
